//! Events become requests, in whatever order they come and however often.

use super::{Tab, all_told, answered, at, failed, finished, headers, requested, told};
use baton_api::debug::{
    Answered, Finished, NetworkChange, NetworkRequest, Redirected, Requested, ResourceType, Source,
};
use baton_debug::Applied;
use baton_testing::cases;
use proptest::prelude::*;

const URL: &str = "https://app.test/items";

#[test]
fn a_request_grows_with_its_events() {
    let mut tab = Tab::new();
    let sent = Requested {
        headers: Some(headers(&[("Accept", "*/*")])),
        resource_type: Some(ResourceType::Fetch),
        ..requested("1", "GET", URL, 0)
    };
    assert_eq!(tab.sent(sent), Applied::New(1));
    insta::assert_snapshot!(all_told(&tab), @"#1 GET https://app.test/items - - hop 0");
    let answer = Answered { mime_type: Some("application/json".into()), ..answered("1", 200, 30) };
    assert_eq!(tab.answer(answer), Applied::Changed(2));
    let end = Finished { body: Some("[1]".into()), body_size: Some(3), ..finished("1", 45) };
    assert_eq!(tab.finish(end), Applied::Changed(3));
    insta::assert_snapshot!(all_told(&tab), @"#1 GET https://app.test/items 200 45ms hop 0 ended");
    let request = tab.only();
    assert_eq!((request.seq, request.response_body.as_deref()), (3, Some("[1]")));
    assert_eq!(request.source, [Source::Debugger]);
}

#[test]
fn of_two_answers_the_first_counts() {
    let mut tab = Tab::new();
    tab.sent(requested("1", "GET", URL, 0));
    tab.answer(answered("1", 200, 10));
    assert_eq!(tab.answer(answered("1", 500, 11)), Applied::Repeated);
    let more = Answered { mime_type: Some("text/html".into()), ..answered("1", 500, 12) };
    assert_eq!(tab.answer(more), Applied::Changed(3), "what was not known is added");
    let request = tab.only();
    assert_eq!((request.status, request.mime_type.as_deref()), (Some(200), Some("text/html")));
}

#[test]
fn an_informational_answer_makes_way_for_the_final_one() {
    let mut tab = Tab::new();
    tab.sent(requested("1", "GET", URL, 0));
    tab.answer(answered("1", 103, 10));
    tab.answer(answered("1", 200, 20));
    assert_eq!(tab.only().status, Some(200));
}

#[test]
fn of_two_ends_the_first_counts() {
    let mut tab = Tab::new();
    tab.get("1", URL, 200, 0);
    assert_eq!(tab.fail(failed("1", "net::ERR_ABORTED", 99)), Applied::Repeated);
    insta::assert_snapshot!(all_told(&tab), @"#1 GET https://app.test/items 200 20ms hop 0 ended");
    let late = Finished { body: Some("late".into()), ..finished("1", 99) };
    assert!(matches!(tab.finish(late), Applied::Changed(_)), "but its body is new");
    let request = tab.only();
    assert_eq!((request.duration_ms, request.response_body.as_deref()), (Some(20), Some("late")));
}

#[test]
fn an_end_may_come_before_the_answer() {
    let mut tab = Tab::new();
    tab.sent(requested("1", "GET", URL, 0));
    tab.finish(finished("1", 20));
    insta::assert_snapshot!(all_told(&tab), @"#1 GET https://app.test/items - 20ms hop 0 ended");
    tab.answer(answered("1", 200, 10));
    insta::assert_snapshot!(all_told(&tab), @"#1 GET https://app.test/items 200 20ms hop 0 ended");
}

#[test]
fn an_answer_whose_request_was_missed_is_shown_and_others_are_counted() {
    let mut tab = Tab::new();
    assert_eq!(tab.answer(answered("9", 200, 0)), Applied::Unknown, "nobody knows where it went");
    assert_eq!(tab.finish(finished("9", 1)), Applied::Unknown);
    assert_eq!(tab.fail(failed("9", "net::ERR_FAILED", 1)), Applied::Unknown);
    assert_eq!(tab.buffer.unknown(), 3);
    let answer = Answered { url: Some(URL.into()), ..answered("1", 200, 10) };
    assert_eq!(tab.answer(answer), Applied::New(1));
    tab.finish(finished("1", 20));
    insta::assert_snapshot!(all_told(&tab), @"#1 ? https://app.test/items 200 - hop 0 ended partial");
    tab.sent(requested("1", "POST", URL, 0));
    insta::assert_snapshot!(all_told(&tab), @"#1 POST https://app.test/items 200 - hop 0 ended");
}

#[test]
fn each_hop_of_a_redirect_is_a_request() {
    let mut tab = Tab::new();
    tab.sent(requested("1", "POST", "https://app.test/old", 0));
    let moved = Redirected { status: 302, ..Redirected::default() };
    tab.sent(Requested {
        redirect_response: Some(moved),
        ..requested("1", "GET", "https://app.test/new", 15)
    });
    // Another way to say the same: an answer, then the id once more.
    tab.answer(answered("1", 307, 20));
    tab.sent(requested("1", "GET", "https://app.test/newest", 25));
    tab.answer(answered("1", 200, 30));
    tab.finish(finished("1", 40));
    insta::assert_snapshot!(all_told(&tab), @r"
    #1 POST https://app.test/old 302 15ms hop 0 ended
    #2 GET https://app.test/new 307 10ms hop 1 ended
    #3 GET https://app.test/newest 200 15ms hop 2 ended
    ");
    assert!(tab.requests().iter().all(|request| request.request_id == "1"));
}

#[test]
fn an_id_that_is_used_again_is_another_request_and_one_that_is_told_twice_is_not() {
    let mut tab = Tab::new();
    tab.sent(requested("1", "GET", URL, 0));
    assert_eq!(tab.sent(requested("1", "GET", URL, 0)), Applied::Repeated);
    tab.answer(answered("1", 401, 10));
    tab.sent(requested("1", "GET", URL, 20));
    tab.answer(answered("1", 200, 30));
    insta::assert_snapshot!(all_told(&tab), @r"
    #1 GET https://app.test/items 401 20ms hop 0 ended
    #2 GET https://app.test/items 200 - hop 0
    ");
}

#[test]
fn answers_without_a_body_are_no_failures() {
    let mut tab = Tab::new();
    for (id, method, status) in [("1", "GET", 204), ("2", "HEAD", 200), ("3", "GET", 0)] {
        tab.sent(requested(id, method, URL, 0));
        tab.answer(answered(id, status, 10));
        tab.fail(failed(id, "net::ERR_ABORTED", 12));
    }
    tab.sent(requested("4", "GET", URL, 0));
    tab.answer(answered("4", 200, 10));
    tab.fail(failed("4", "net::ERR_ABORTED", 12));
    insta::assert_snapshot!(all_told(&tab), @r"
    #1 GET https://app.test/items 204 12ms hop 0 ended
    #2 HEAD https://app.test/items 200 12ms hop 0 ended
    #3 GET https://app.test/items 0 12ms hop 0 ended
    #4 GET https://app.test/items 200 12ms hop 0 net::ERR_ABORTED ended
    ");
}

#[test]
fn what_two_sources_report_is_one_request_if_it_is_near_in_time() {
    let mut tab = Tab::new();
    let base = |change| (Source::WebRequest, change);
    let (source, sent) = base(NetworkChange::Request(requested("w1", "GET", URL, 0)));
    tab.apply(source, sent);
    tab.sent(requested("d1", "GET", URL, 4));
    tab.sent(requested("d2", "POST", URL, 5));
    tab.sent(requested("d3", "GET", URL, 2_500));
    let told: Vec<String> = tab
        .requests()
        .iter()
        .map(|request| format!("{} {:?} {}", told(request), request.source, request.timestamp))
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    #1 GET https://app.test/items - - hop 0 [WebRequest, Debugger] 2027-01-15T08:00:00.004Z
    #2 POST https://app.test/items - - hop 0 [Debugger] 2027-01-15T08:00:00.005Z
    #3 GET https://app.test/items - - hop 0 [Debugger] 2027-01-15T08:00:02.5Z
    ");
}

#[test]
fn of_several_requests_of_one_address_each_source_means_the_nearest() {
    let mut tab = Tab::new();
    for (id, millis) in [("w1", 0), ("w2", 300), ("w3", 600)] {
        tab.apply(Source::WebRequest, NetworkChange::Request(requested(id, "GET", URL, millis)));
    }
    for (id, millis, status) in [("d3", 602, 203), ("d1", 1, 201), ("d2", 301, 202)] {
        tab.sent(requested(id, "GET", URL, millis));
        tab.answer(answered(id, status, millis + 5));
    }
    let statuses: Vec<_> = tab.requests().iter().map(|request| request.status).collect();
    assert_eq!(statuses, [Some(201), Some(202), Some(203)]);
}

#[test]
fn what_one_source_saw_end_is_not_what_another_sees_begin_later() {
    let mut tab = Tab::new();
    let base = |change| (Source::WebRequest, change);
    for (source, change) in [
        base(NetworkChange::Request(requested("w", "GET", URL, 0))),
        base(NetworkChange::Finished(finished("w", 300))),
    ] {
        tab.apply(source, change);
    }
    tab.sent(requested("again", "GET", URL, 900));
    tab.sent(requested("same", "GET", URL, 2));
    let sources: Vec<_> = tab.requests().iter().map(|request| request.source.clone()).collect();
    let both = vec![Source::WebRequest, Source::Debugger];
    assert_eq!(sources, [both, vec![Source::Debugger]], "the page was loaded again");
}

#[test]
fn a_late_event_does_not_bring_back_what_was_dropped() {
    let mut tab = Tab::with(baton_debug::Limits { requests: 2, ..Default::default() });
    for id in ["1", "2", "3"] {
        tab.sent(requested(id, "GET", URL, 0));
    }
    assert_eq!(tab.answer(answered("1", 200, 5)), Applied::Unknown);
    assert_eq!(tab.finish(finished("2", 9)), Applied::Changed(4));
    assert_eq!(tab.requests().len(), 2);
}

/// What each source says of one request. The debugger may have missed the beginning.
fn stories(missed: bool) -> [Vec<(Source, NetworkChange)>; 2] {
    let base = vec![
        NetworkChange::Request(requested("w", "POST", URL, 0)),
        NetworkChange::Response(Answered {
            mime_type: Some("base".into()),
            ..answered("w", 304, 8)
        }),
        NetworkChange::Finished(finished("w", 19)),
    ];
    let mut debugger = vec![
        NetworkChange::Request(Requested {
            body: Some("b=1".into()),
            ..requested("d", "POST", URL, 2)
        }),
        NetworkChange::Response(Answered { url: Some(URL.into()), ..answered("d", 200, 10) }),
        NetworkChange::Finished(Finished { body: Some("whole".into()), ..finished("d", 20) }),
    ];
    if missed {
        debugger.remove(0);
    }
    let of = |source, all: Vec<NetworkChange>| all.into_iter().map(|one| (source, one)).collect();
    [of(Source::WebRequest, base), of(Source::Debugger, debugger)]
}

/// Told in an order in which each source keeps its own.
fn told_in(order: &[bool], missed: bool) -> NetworkRequest {
    let mut tab = Tab::new();
    let mut stories = stories(missed).map(Vec::into_iter);
    let mut tell = |which: usize| {
        let next = stories[which].next();
        next.is_some_and(|(source, change)| tab.apply(source, change) != Applied::Unknown)
    };
    for first in order {
        tell(usize::from(*first));
    }
    while tell(0) || tell(1) {}
    let mut request = (*tab.only()).clone();
    (request.seq, request.request_id) = (0, String::new());
    if missed {
        // Who missed the beginning does not know how long it took.
        request.duration_ms = None;
    }
    request
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn two_sources_make_one_request_whoever_comes_first(order: Vec<bool>, missed: bool) {
        let expected = told_in(&[], missed);
        prop_assert_eq!(expected.status, Some(200), "the debugger knows more");
        prop_assert_eq!(expected.response_body.as_deref(), Some("whole"));
        prop_assert_eq!(&expected.method, "POST");
        prop_assert_eq!(expected.timestamp, at(if missed { 0 } else { 2 }));
        prop_assert_eq!(told_in(&order, missed), expected);
    }
}
