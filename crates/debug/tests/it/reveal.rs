//! Secrets of a tab are shown to nobody, unless they were kept because somebody asked for it, to whoever may
//! see them and asks to.

use super::planted::{PUBLIC, SECRET, addresses, bodies, messages};
use super::{answered, at, finished, headers, line, requested};
use baton_api::debug::{
    ConsoleEntry, ConsoleEvent, ConsoleFilters, ConsoleLevel, Direction, Finished, NetworkChange,
    NetworkEvent, NetworkFilters, Requested, SocketEvent, SocketMessage, Source,
};
use baton_debug::relay::{About, Bus, Relay, Sight, TabSender};
use baton_debug::secrets::Page;
use baton_debug::{Limits, LookError, rendering};
use baton_session::Owner;
use std::time::Duration;

fn ada() -> Owner {
    "ada".parse().unwrap()
}

fn tab_of(relay: &Relay) -> TabSender {
    let about = About {
        owner: ada(),
        browser_id: "browser-1".to_owned(),
        cocoon_id: "shop".to_owned(),
        cocoon_name: None,
    };
    relay.add(about).unwrap()
}

fn send(tab: &TabSender, change: NetworkChange) {
    let token = tab.token().clone();
    tab.network(NetworkEvent { token, seq: None, source: Source::Session, change });
}

/// Requests, messages and lines with the secret in each, in every place.
fn plant(tab: &TabSender, from: &str) {
    for (count, (url, body)) in addresses().iter().cycle().zip(bodies()).enumerate() {
        let id = format!("{from}-{count}");
        let all = headers(&[("Authorization", &format!("Bearer {SECRET}")), ("Referer", url)]);
        let (headers, body) = (Some(all), Some(body));
        let sent = Requested { headers, body: body.clone(), ..requested(&id, "POST", url, 0) };
        send(tab, NetworkChange::Request(sent));
        send(tab, NetworkChange::Response(answered(&id, 200, 1)));
        let end = Finished { body: body.clone(), ..finished(&id, 2) };
        send(tab, NetworkChange::Finished(end));
        let message = SocketMessage {
            timestamp: at(3),
            direction: Direction::Sent,
            payload: body.unwrap(),
            binary: false,
            payload_truncated: false,
            size: None,
        };
        send(tab, NetworkChange::Message(SocketEvent { request_id: id, message }));
    }
    for message in messages() {
        let args = vec![message.clone().into(), "token".into(), SECRET.into(), PUBLIC.into()];
        let entry = ConsoleEntry { args, ..line(ConsoleLevel::Log, &message, 4) };
        tab.console(ConsoleEvent { token: tab.token().clone(), seq: None, entry });
    }
    let page = Page { url: addresses()[0].clone(), title: format!("token={SECRET}") };
    tab.show(&page);
}

/// All that comes out for somebody who looks like this.
async fn outputs(relay: &Relay, tab: &TabSender, sight: Sight) -> Result<String, LookError> {
    let (ada, token) = (ada(), tab.token());
    let (all, lines) = (NetworkFilters::default(), ConsoleFilters::default());
    let requests = relay.network(&ada, token, sight, &all, Duration::ZERO).await?;
    let lines = relay.console(&ada, token, sight, &lines, Duration::ZERO).await?;
    let har = relay.har(&ada, token, sight).await?;
    let mut out = vec![
        rendering::network(&requests, usize::MAX),
        rendering::console(&lines, usize::MAX),
        serde_json::to_string(&har).unwrap(),
        serde_json::to_string(&relay.tabs(&ada).await?).unwrap(),
        // What a log would show.
        format!("{relay:?}{tab:?}"),
    ];
    out.extend(requests.items.iter().map(|one| rendering::request(one, usize::MAX)));
    out.push(serde_json::to_string(&requests.into_data("q".into(), true)).unwrap());
    out.push(serde_json::to_string(&lines.into_data("q".into())).unwrap());
    Ok(out.concat())
}

#[tokio::test]
async fn secrets_are_in_no_answer_but_that_to_who_may_see_them_and_asks() {
    let relay = Relay::default();
    let tab = tab_of(&relay);
    plant(&tab, "before");
    let refused = outputs(&relay, &tab, Sight::Revealed).await.unwrap_err();
    assert_eq!(refused, LookError::NotRevealed { token: tab.token().clone() });

    tab.reveal(true);
    let before = outputs(&relay, &tab, Sight::Revealed).await.unwrap();
    assert!(!before.contains(SECRET), "what was hidden stays hidden");
    plant(&tab, "since");
    let hidden = outputs(&relay, &tab, Sight::Hidden).await.unwrap();
    assert!(!hidden.contains(SECRET) && hidden.contains("[redacted]") && hidden.contains(PUBLIC));
    let revealed = outputs(&relay, &tab, Sight::Revealed).await.unwrap();
    for planted in addresses().iter().chain(&bodies()).chain(&messages()) {
        let json = serde_json::to_string(planted).unwrap();
        assert!(revealed.contains(json.trim_matches('"')), "{planted} is not there as it came");
    }

    // A request has one number, whoever looks.
    let by_address =
        NetworkFilters { url_pattern: Some(SECRET.to_owned()), ..NetworkFilters::default() };
    let (ada, token) = (ada(), tab.token());
    let found = relay.network(&ada, token, Sight::Revealed, &by_address, Duration::ZERO).await;
    let found = found.unwrap();
    assert_eq!(found.items.len(), bodies().len());
    let number = found.items[3].number.to_string();
    let same = NetworkFilters { id: Some(number), ..NetworkFilters::default() };
    let same = relay.network(&ada, token, Sight::Hidden, &same, Duration::ZERO).await.unwrap();
    assert_eq!(same.items[0].request_id, found.items[3].request_id);
    // What is hidden can not be guessed at with a filter either.
    let none = relay.network(&ada, token, Sight::Hidden, &by_address, Duration::ZERO).await;
    assert!(none.unwrap().items.is_empty());
    let eve = "eve".parse().unwrap();
    let gone = relay.har(&eve, token, Sight::Revealed).await.unwrap_err();
    assert_eq!(gone, LookError::TabGone { token: token.clone() });
}

#[tokio::test]
async fn secrets_are_forgotten_as_soon_as_nobody_wants_them_kept() {
    let relay = Relay::default();
    let tab = tab_of(&relay);
    tab.reveal(true);
    assert!(relay.tabs(&ada()).await.unwrap()[0].revealed);
    plant(&tab, "one");
    assert!(outputs(&relay, &tab, Sight::Revealed).await.unwrap().contains(SECRET));
    tab.reveal(false);
    outputs(&relay, &tab, Sight::Revealed).await.unwrap_err();
    assert!(!relay.tabs(&ada()).await.unwrap()[0].revealed);
    tab.reveal(true);
    let again = outputs(&relay, &tab, Sight::Revealed).await.unwrap();
    assert!(again.contains(PUBLIC) && !again.contains(SECRET));
}

#[tokio::test]
async fn what_is_revealed_is_bounded_too() {
    let limits = Limits { body_bytes: 50, text_bytes: 40, headers: 1, ..Limits::default() };
    let tab = baton_debug::relay::RelayLimits { tab: limits, ..Default::default() };
    let relay = Relay::new(tab);
    let tab = tab_of(&relay);
    tab.reveal(true);
    let long = SECRET.repeat(10);
    let all = headers(&[("a", &long), ("b", &long)]);
    let (headers, body) = (Some(all), Some(long.clone()));
    let url = format!("http://a.test/?token={long}");
    send(
        &tab,
        NetworkChange::Request(Requested { headers, body, ..requested("1", "POST", &url, 0) }),
    );
    let entry =
        ConsoleEntry { args: vec![long.clone().into()], ..line(ConsoleLevel::Log, &long, 0) };
    tab.console(ConsoleEvent { token: tab.token().clone(), seq: None, entry });
    let (ada, token) = (ada(), tab.token());
    let all = NetworkFilters::default();
    let found = relay.network(&ada, token, Sight::Revealed, &all, Duration::ZERO).await.unwrap();
    let request = &found.items[0];
    assert_eq!(request.request_body.as_ref().unwrap(), &long[..50]);
    assert!(request.request_body_truncated && request.url.len() == 40);
    let headers = request.request_headers.as_ref().unwrap();
    assert!(headers.len() == 1 && headers["a"].len() == 40);
    let all = ConsoleFilters::default();
    let found = relay.console(&ada, token, Sight::Revealed, &all, Duration::ZERO).await.unwrap();
    assert!(found.items[0].truncated && found.items[0].args.is_empty());
    assert_eq!(found.items[0].message, &long[..40]);
}
