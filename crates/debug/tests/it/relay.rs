//! The relay: who tells of tabs, and who may look into them.

use super::{line, requested};
use baton_api::debug::{
    ConsoleEvent, ConsoleFilters, ConsoleLevel, GapReason, NetworkChange, NetworkEvent,
    NetworkFilters, Source, TabToken,
};
use baton_debug::relay::{
    About, Bus, GATHERING, MAX_WAIT, Redaction, Relay, RelayLimits, Sight, TabSender,
};
use baton_debug::secrets::Page;
use baton_debug::{Limits, LookError};
use baton_session::Owner;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// How long it may take until what was told is answered.
const LIMIT: Duration = Duration::from_secs(10);

fn owner(name: &str) -> Owner {
    name.parse().unwrap()
}

fn tab_of(relay: &Relay, name: &str) -> TabSender {
    tab_in(relay, name, "shop")
}

/// A tab of this session.
fn tab_in(relay: &Relay, name: &str, session: &str) -> TabSender {
    let about = About {
        owner: owner(name),
        browser_id: "browser-1".to_owned(),
        cocoon_id: session.to_owned(),
        cocoon_name: Some("the shop".to_owned()),
    };
    relay.add(about).unwrap()
}

fn send(tab: &TabSender, id: &str, url: &str) {
    let change = NetworkChange::Request(requested(id, "GET", url, 0));
    let token = tab.token().clone();
    tab.network(NetworkEvent { token, seq: None, source: Source::Session, change });
}

fn write(tab: &TabSender, message: &str) {
    let (token, entry) = (tab.token().clone(), line(ConsoleLevel::Log, message, 0));
    tab.console(ConsoleEvent { token, seq: None, entry });
}

/// How many requests an owner finds.
async fn count(relay: &Relay, name: &str, token: &TabToken) -> Result<usize, LookError> {
    let filters = NetworkFilters::default();
    let found = relay.network(&owner(name), token, Sight::Hidden, &filters, Duration::ZERO).await?;
    Ok(found.items.len())
}

#[tokio::test]
async fn a_tab_is_there_for_its_owner_as_long_as_somebody_tells_of_it() {
    let relay = Relay::default();
    let tab = tab_of(&relay, "ada");
    tab.show(&Page { url: "http://shop.test/?token=abc".to_owned(), title: "Shop".to_owned() });
    send(&tab, "1", "http://shop.test/");
    let token = tab.token().clone();
    let listed = relay.tabs(&owner("ada")).await.unwrap();
    let told: Vec<_> = listed.iter().map(|tab| (&tab.token, tab.url.as_str())).collect();
    assert_eq!(told, [(&token, "http://shop.test/?token=[redacted]")]);
    assert_eq!(count(&relay, "ada", &token).await, Ok(1));

    // For anybody else it is not there at all.
    assert!(relay.tabs(&owner("eve")).await.unwrap().is_empty());
    let gone = Err(LookError::TabGone { token: token.clone() });
    assert_eq!(count(&relay, "eve", &token).await, gone);
    assert_eq!(
        relay.har(&owner("eve"), &token, Sight::Hidden).await.unwrap_err(),
        LookError::TabGone { token: token.clone() }
    );

    drop(tab);
    assert!(relay.tabs(&owner("ada")).await.unwrap().is_empty());
    assert_eq!(count(&relay, "ada", &token).await, gone);
}

#[tokio::test]
async fn a_reader_of_a_tab_that_tells_without_end_is_answered_now_and_then_and_misses_nothing() {
    let relay = Relay::default();
    let tab = tab_of(&relay, "ada");
    let (ada, token) = (owner("ada"), tab.token().clone());
    let flood = tokio::spawn(async move {
        loop {
            write(&tab, "more");
            tokio::task::yield_now().await;
        }
    });
    let mut filters =
        ConsoleFilters { after: Some(0), limit: Some(1_000), ..ConsoleFilters::default() };
    let (begun, mut seen) = (Instant::now(), 0);
    for answers in 1..=20 {
        let found = relay.console(&ada, &token, Sight::Hidden, &filters, LIMIT).await.unwrap();
        assert!(begun.elapsed() >= answers * GATHERING, "answered more often than that");
        let missed: u64 = found.gaps.iter().map(|gap| gap.missing.unwrap()).sum();
        seen += found.items.len() as u64 + missed;
        assert_eq!(seen, found.cursor, "what came meanwhile is told with the next answer");
        filters.after = Some(found.cursor);
    }
    flood.abort();
}

#[tokio::test]
async fn who_waits_is_answered_when_something_is_told_when_it_is_over_and_after_a_while() {
    let relay = Relay::default();
    let tab = tab_of(&relay, "ada");
    let (ada, token) = (owner("ada"), tab.token().clone());
    let ask = |after, wait| {
        let filters = ConsoleFilters { after: Some(after), ..ConsoleFilters::default() };
        let (relay, ada, token) = (relay.clone(), ada.clone(), token.clone());
        async move { relay.console(&ada, &token, Sight::Hidden, &filters, wait).await }
    };
    let waiting = tokio::spawn(ask(0, LIMIT));
    write(&tab, "first");
    let found = timeout(LIMIT, waiting).await.unwrap().unwrap().unwrap();
    assert_eq!(found.items[0].message, "first");

    // What was missed before is no reason not to wait for what was asked for.
    tab.miss(GapReason::FirstLoad, None);
    let second =
        ConsoleFilters { message_pattern: Some("second".to_owned()), ..ConsoleFilters::default() };
    let waiting = {
        let (relay, ada, token) = (relay.clone(), ada.clone(), token.clone());
        tokio::spawn(
            async move { relay.console(&ada, &token, Sight::Hidden, &second, LIMIT).await },
        )
    };
    tokio::task::yield_now().await;
    write(&tab, "second");
    let found = timeout(LIMIT, waiting).await.unwrap().unwrap().unwrap();
    assert_eq!(found.items.len(), 1);

    // What is behind the cursor is not told again, and what does not come is not waited for for long.
    let begun = Instant::now();
    let none = ask(found.cursor, Duration::from_millis(50)).await.unwrap();
    assert!(none.items.is_empty() && begun.elapsed() < MAX_WAIT);

    // A browser that is not connected tells nothing new; what it told is still there.
    tab.offline();
    let marked = ask(none.cursor, LIMIT).await.unwrap();
    assert_eq!(marked.gaps[0].reason, GapReason::Disconnected);
    let error = ask(marked.cursor, LIMIT).await.unwrap_err();
    assert_eq!(error, LookError::BrowserOffline { token: token.clone() });
    assert_eq!(ask(0, Duration::ZERO).await.unwrap().items.len(), 2);
    let listed = async || relay.tabs(&ada).await.unwrap().remove(0).of();
    assert_eq!(listed().await, "the shop (offline)");

    write(&tab, "back");
    assert_eq!(listed().await, "the shop");
    let back = ask(marked.cursor, LIMIT).await.unwrap();
    assert_eq!(back.items[0].message, "back");
    let waiting = tokio::spawn(ask(back.cursor, LIMIT));
    drop(tab);
    let ended = timeout(LIMIT, waiting).await.unwrap().unwrap();
    assert_eq!(ended.unwrap_err(), LookError::TabGone { token });
}

#[tokio::test]
async fn an_owner_has_so_many_tabs_and_another_one_as_many() {
    let relay = Relay::new(RelayLimits { tabs: 2, ..RelayLimits::default() });
    let held = [tab_of(&relay, "ada"), tab_of(&relay, "ada")];
    let refused = relay.add(held[0].about().clone()).unwrap_err();
    assert_eq!(refused, LookError::TooManyTabs { most: 2 });
    let other = tab_of(&relay, "bob");
    drop(held);
    let again = tab_of(&relay, "ada");
    assert_ne!(again.token(), other.token());
}

#[tokio::test]
async fn all_tabs_together_are_bounded_and_the_largest_one_gives_way() {
    const MOST: usize = 200_000;
    let relay = Relay::new(RelayLimits { tab: Limits::default(), tabs: 500, bytes: MOST });
    let (small, large) = (tab_of(&relay, "ada"), tab_of(&relay, "bob"));
    send(&small, "1", "http://shop.test/kept");
    for number in 0..1_000 {
        send(&large, &number.to_string(), &format!("http://flood.test/{number}"));
    }
    assert_eq!(count(&relay, "ada", small.token()).await, Ok(1));
    let kept = count(&relay, "bob", large.token()).await.unwrap();
    assert!((50..250).contains(&kept), "{kept} of about 900 bytes each");
    let filters = NetworkFilters::default();
    let found = relay
        .network(&owner("bob"), large.token(), Sight::Hidden, &filters, Duration::ZERO)
        .await
        .unwrap();
    let gap = &found.gaps[0];
    assert_eq!((gap.reason, gap.missing), (GapReason::BufferFull, Some(1_000 - kept as u64)));
    // The newest is there.
    assert!(found.items.last().unwrap().url.ends_with("/999"));
}

#[tokio::test]
async fn a_question_that_makes_no_sense_is_refused_before_anything_is_looked_at() {
    let relay = Relay::default();
    let tab = tab_of(&relay, "ada");
    for filters in [
        NetworkFilters { url_pattern: Some("(".to_owned()), ..NetworkFilters::default() },
        NetworkFilters {
            url_pattern: Some("(a{1000}){1000}".to_owned()),
            ..NetworkFilters::default()
        },
        NetworkFilters { limit: Some(0), ..NetworkFilters::default() },
    ] {
        let asked = relay.network(&owner("ada"), tab.token(), Sight::Hidden, &filters, LIMIT).await;
        assert!(matches!(asked.unwrap_err(), LookError::Ask(_)));
    }
}

#[tokio::test]
async fn names_of_ones_own_are_hidden_and_shown_wherever_they_come() {
    let redaction = Redaction { names: vec!["orderRef".into()], allow: vec!["csrf".into()] };
    let relay = Relay::redacting(RelayLimits::default(), redaction);
    let tab = tab_of(&relay, "ada");
    let url = "http://shop.test/?order_ref=blue-horse&csrf=k3J9xQ2mN8vB7pL4&token=c0rrect";
    send(&tab, "1", url);
    write(&tab, "orderRef: blue-horse, csrf: k3J9xQ2mN8vB7pL4, token: c0rrect");
    let (filters, lines) = (NetworkFilters::default(), ConsoleFilters::default());
    let ada = owner("ada");
    let found =
        relay.network(&ada, tab.token(), Sight::Hidden, &filters, Duration::ZERO).await.unwrap();
    assert_eq!(
        found.items[0].url,
        "http://shop.test/?order_ref=[redacted]&csrf=k3J9xQ2mN8vB7pL4&token=[redacted]"
    );
    let found =
        relay.console(&ada, tab.token(), Sight::Hidden, &lines, Duration::ZERO).await.unwrap();
    assert_eq!(
        found.items[0].message,
        "orderRef: [redacted], csrf: k3J9xQ2mN8vB7pL4, token: [redacted]"
    );
}

/// What an owner sees of a line that a page writes.
async fn shown(relay: &Relay, name: &str, tab: &TabSender, message: &str) -> String {
    write(tab, message);
    let filters = ConsoleFilters::default();
    let found =
        relay.console(&owner(name), tab.token(), Sight::Hidden, &filters, Duration::ZERO).await;
    found.unwrap().items.last().unwrap().message.clone()
}

#[tokio::test]
async fn a_secret_of_a_session_is_one_in_all_its_tabs_and_in_those_that_come_later() {
    const SECRET: &str = "k3J9xQ2mN8vB7pL4";
    let relay = Relay::default();
    let bare = format!("it was {SECRET} again");
    let first = tab_of(&relay, "ada");
    assert_eq!(shown(&relay, "ada", &first, &bare).await, bare, "nobody knows yet what it is");
    assert_eq!(shown(&relay, "ada", &first, &format!("token={SECRET}")).await, "token=[redacted]");

    let second = tab_of(&relay, "ada");
    assert_eq!(shown(&relay, "ada", &second, &bare).await, "it was [redacted] again");
    // The browser ends, and comes back with other tabs.
    drop((first, second));
    let later = tab_of(&relay, "ada");
    assert_eq!(shown(&relay, "ada", &later, &bare).await, "it was [redacted] again");
    // In another session, and for another owner, it is a word like any other.
    let mail = tab_in(&relay, "ada", "mail");
    assert_eq!(shown(&relay, "ada", &mail, &bare).await, bare);
    let other = tab_of(&relay, "eve");
    assert_eq!(shown(&relay, "eve", &other, &bare).await, bare);
}

#[tokio::test]
async fn of_how_many_sessions_secrets_are_known_has_a_bound_and_open_tabs_forget_nothing() {
    const SECRET: &str = "k3J9xQ2mN8vB7pL4";
    let relay = Relay::default();
    let bare = format!("it was {SECRET} again");
    let open = tab_in(&relay, "ada", "open");
    let closed = tab_in(&relay, "ada", "closed");
    for tab in [&open, &closed] {
        shown(&relay, "ada", tab, &format!("token={SECRET}")).await;
    }
    drop(closed);
    for number in 0..300 {
        drop(tab_in(&relay, "ada", &format!("other-{number}")));
    }
    let beside = tab_in(&relay, "ada", "open");
    assert_eq!(shown(&relay, "ada", &beside, &bare).await, "it was [redacted] again");
    let again = tab_in(&relay, "ada", "closed");
    assert_eq!(shown(&relay, "ada", &again, &bare).await, bare, "the oldest was forgotten");
}
