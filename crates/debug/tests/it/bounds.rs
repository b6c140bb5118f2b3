//! A tab under any events: bounded, in order, and every change seen once by a reader that keeps up.

use super::{Tab, answered, at, failed, finished, redactor, requested, token};
use baton_api::debug::{
    Answered, ConsoleEvent, ConsoleLevel, Direction, Finished, GapReason, NetworkChange,
    NetworkEvent, NetworkFilters, Requested, SocketEvent, SocketMessage, Source,
};
use baton_debug::query::RequestFilter;
use baton_debug::{Applied, Clean, Limits, TabBuffer};
use baton_testing::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;

/// Room for little, so that much is dropped.
fn small() -> Limits {
    Limits {
        requests: 5,
        console_entries: 4,
        bytes: 12_000,
        body_bytes: 400,
        text_bytes: 200,
        headers: 3,
        messages: 4,
        messages_bytes: 900,
    }
}

fn change() -> impl Strategy<Value = NetworkChange> {
    let id = || select(vec!["1", "2", "3", "4", "5", "6", "7", "8"]);
    let url = || select(vec!["https://a.test/", "https://a.test/b?token=1", "https://c.test/", ""]);
    let text = || proptest::option::of("[a-z={}\"\\[]{0,600}");
    let request =
        (id(), url(), 0..5_000u64, text(), any::<bool>()).prop_map(|(id, url, ms, body, again)| {
            let moved = again.then(Default::default);
            let sent = requested(id, "GET", url, ms);
            NetworkChange::Request(Requested { body, redirect_response: moved, ..sent })
        });
    let response = (id(), 0..600u16, 0..5_000u64, proptest::option::of(url())).prop_map(
        |(id, status, ms, url)| {
            let url = url.map(ToOwned::to_owned);
            NetworkChange::Response(Answered { url, ..answered(id, status, ms) })
        },
    );
    let finish = (id(), 0..5_000u64, text())
        .prop_map(|(id, ms, body)| NetworkChange::Finished(Finished { body, ..finished(id, ms) }));
    let fail =
        (id(), 0..5_000u64).prop_map(|(id, ms)| NetworkChange::Failed(failed(id, "net::ERR", ms)));
    let message = (id(), ".{0,500}").prop_map(|(id, payload)| {
        NetworkChange::Message(SocketEvent { request_id: id.to_owned(), message: sent(payload) })
    });
    prop_oneof![4 => request, 2 => response, 2 => finish, 1 => fail, 2 => message]
}

fn sent(payload: String) -> SocketMessage {
    SocketMessage {
        timestamp: at(0),
        direction: Direction::Sent,
        payload,
        binary: false,
        payload_truncated: false,
        size: None,
    }
}

proptest! {
    #![proptest_config(cases(120))]

    #[test]
    fn a_tab_is_bounded_and_a_reader_that_keeps_up_sees_every_change_once(
        changes in vec((select(vec![Source::WebRequest, Source::Debugger]), change()), 0..80),
    ) {
        let mut tab = Tab::with(small());
        let (mut cursor, mut last) = (0, 0);
        for (source, change) in changes {
            let applied = tab.apply(source, change);
            let seq = match applied {
                Applied::New(seq) | Applied::Changed(seq) => seq,
                Applied::Repeated | Applied::Unknown => 0,
            };
            if seq > 0 {
                prop_assert!(seq > last, "numbers only grow");
                last = seq;
            }
            let requests = tab.requests();
            prop_assert!(requests.len() <= 5 && tab.buffer.used() <= 12_000);
            for request in &requests {
                prop_assert!(request.messages.len() <= 4);
                prop_assert!(request.response_body.as_ref().is_none_or(|body| body.len() <= 400));
            }
            let numbers: BTreeSet<u64> = requests.iter().map(|request| request.number).collect();
            prop_assert_eq!(numbers.len(), requests.len(), "each is listed once");

            let ask = NetworkFilters { after: Some(cursor), ..NetworkFilters::default() };
            let found = RequestFilter::new(&ask).unwrap().find(&tab.buffer);
            let seen: Vec<u64> = found.items.iter().map(|request| request.seq).collect();
            // A redirect changes two requests: the hop before, and the new one.
            prop_assert!(seen.len() <= 2 && seen.iter().all(|seq| *seq > cursor));
            prop_assert_eq!(seq > 0, !seen.is_empty() || !found.gaps.is_empty());
            prop_assert!(seq == 0 || seen.is_empty() || seen.last() == Some(&seq));
            cursor = found.cursor;
        }
    }
}

fn numbered(tab: &mut TabBuffer, seq: u64, id: &str) -> Applied {
    let change = NetworkChange::Request(requested(id, "GET", "https://a.test/", seq));
    let event = NetworkEvent { token: token(), seq: Some(seq), source: Source::Debugger, change };
    tab.network(Clean::network(event, &Limits::default(), &mut redactor()))
}

fn gaps(tab: &TabBuffer, after: Option<u64>) -> Vec<(GapReason, Option<u64>, Option<u64>)> {
    let ask = NetworkFilters { after, ..NetworkFilters::default() };
    let found = RequestFilter::new(&ask).unwrap().find(tab);
    found.gaps.iter().map(|gap| (gap.reason, gap.missing, gap.seq)).collect()
}

#[test]
fn what_is_sent_again_is_taken_once_and_what_was_lost_is_marked() {
    let mut tab = TabBuffer::new(Limits::default());
    assert_eq!(numbered(&mut tab, 1, "a"), Applied::New(1));
    assert_eq!(numbered(&mut tab, 2, "b"), Applied::New(2));
    assert_eq!(numbered(&mut tab, 2, "b"), Applied::Repeated);
    assert_eq!(numbered(&mut tab, 1, "z"), Applied::Repeated);
    assert_eq!(gaps(&tab, None), []);
    assert_eq!(numbered(&mut tab, 6, "c"), Applied::New(4), "the mark has the number before");
    assert_eq!(gaps(&tab, None), [(GapReason::EventsLost, Some(3), Some(3))]);
    assert_eq!(gaps(&tab, Some(2)), [(GapReason::EventsLost, Some(3), Some(3))]);
    assert_eq!(gaps(&tab, Some(3)), [], "told once");
    assert_eq!(tab.last_event(), 6);
}

#[test]
fn a_sender_that_begins_anew_is_not_taken_for_one_that_repeats_itself() {
    let mut tab = TabBuffer::new(Limits::default());
    assert!(!tab.begin(1, at(0)), "the first life");
    numbered(&mut tab, 1, "a");
    assert!(!tab.begin(1, at(1)), "the same life");
    assert!(tab.begin(2, at(2)));
    assert!(matches!(numbered(&mut tab, 1, "b"), Applied::New(_)));
    assert_eq!(gaps(&tab, None), [(GapReason::Restarted, None, Some(2))]);
}

#[test]
fn a_cursor_of_another_life_begins_anew() {
    let mut tab = TabBuffer::new(Limits::default());
    numbered(&mut tab, 1, "a");
    assert_eq!(gaps(&tab, Some(500)), [(GapReason::Restarted, None, None)]);
    let ask = NetworkFilters { after: Some(500), ..NetworkFilters::default() };
    let found = RequestFilter::new(&ask).unwrap().find(&tab);
    assert_eq!((found.items.len(), found.cursor), (1, 1));
}

#[test]
fn marks_are_bounded_too() {
    let mut tab = TabBuffer::new(Limits::default());
    for millis in 0..1_000 {
        tab.miss(GapReason::Disconnected, None, at(millis));
    }
    assert_eq!(gaps(&tab, None).len(), 100);
}

#[test]
fn whatever_is_long_is_cut_and_says_so() {
    let limits = Limits::default();
    let mut tab = Tab::new();
    let long = "é".repeat(200_000);
    tab.sent(Requested {
        body: Some(long.clone()),
        ..requested("1", "POST", &format!("https://a.test/{long}"), 0)
    });
    tab.answer(answered("1", 200, 1));
    tab.finish(Finished { body: Some(long.clone()), ..finished("1", 2) });
    let request = tab.only();
    assert!(request.request_body_truncated && request.response_body_truncated);
    assert_eq!(request.response_body.as_ref().map(String::len), Some(limits.body_bytes));
    assert!(request.url.len() <= limits.text_bytes);
    tab.write(super::line(ConsoleLevel::Log, &long, 3));
    let entry = std::sync::Arc::clone(tab.buffer.entries().next().unwrap());
    assert!(entry.truncated && entry.message.len() <= limits.text_bytes);
}

#[test]
fn a_password_that_is_longer_than_an_address_may_be_is_hidden_with_it() {
    let long = "correct-horse-".repeat(2_000);
    for (id, url) in
        [("1", format!("https://ada:{long}@a.test/in")), ("2", format!("wss://{long}@a.test/"))]
    {
        let mut tab = Tab::new();
        tab.sent(requested(id, "GET", &url, 0));
        assert_eq!(tab.only().url, "[redacted]");
    }
    // What is only long behind its host is shown as far as it goes.
    let mut tab = Tab::new();
    tab.sent(requested("1", "GET", &format!("https://a.test/{}", "shop/".repeat(10_000)), 0));
    assert!(tab.only().url.starts_with("https://a.test/shop/shop/"));
}

#[test]
fn a_talkative_socket_keeps_its_newest_messages() {
    let mut tab = Tab::with(small());
    tab.sent(requested("1", "GET", "wss://a.test/", 0));
    for count in 0..100 {
        let event =
            SocketEvent { request_id: "1".into(), message: sent(format!("message {count}")) };
        tab.apply(Source::Debugger, NetworkChange::Message(event));
    }
    let request = tab.only();
    let kept: Vec<&str> = request.messages.iter().map(|message| message.payload.as_str()).collect();
    assert_eq!(kept, ["message 96", "message 97", "message 98", "message 99"]);
    assert_eq!(request.messages_dropped, 96);
}

#[test]
fn a_noisy_console_does_not_drive_out_requests() {
    let mut tab = Tab::with(small());
    tab.get("1", "https://a.test/", 200, 0);
    for count in 0..1_000 {
        tab.write(super::line(ConsoleLevel::Log, &format!("line {count}"), count));
    }
    assert_eq!(tab.requests().len(), 1);
    let lines: Vec<_> = tab.buffer.entries().map(|entry| entry.message.clone()).collect();
    assert_eq!(lines, ["line 996", "line 997", "line 998", "line 999"]);
}

#[test]
fn a_line_keeps_its_number_in_the_console() {
    let mut tab = Tab::new();
    let event = |seq, text: &str| ConsoleEvent {
        token: token(),
        seq: Some(seq),
        entry: super::line(ConsoleLevel::Info, text, seq),
    };
    for (seq, text, applied) in
        [(1, "a", Applied::New(1)), (1, "a", Applied::Repeated), (2, "b", Applied::New(2))]
    {
        assert_eq!(
            tab.buffer.console(Clean::console(event(seq, text), &tab.limits, &mut tab.redactor)),
            applied
        );
    }
}
