//! What models read: all of it in little.

use super::page::page;
use super::{Tab, answered, at, failed, finished, headers, requested};
use baton_api::debug::{
    Answered, Direction, Finished, GapReason, NetworkChange, NetworkFilters, Requested,
    ResourceType, SocketEvent, SocketMessage, Source,
};
use baton_debug::query::RequestFilter;
use baton_debug::{Limits, rendering};

fn list(tab: &Tab, asked: &NetworkFilters, budget: usize) -> String {
    rendering::network(&RequestFilter::new(asked).unwrap().find(&tab.buffer), budget)
}

fn default(tab: &Tab) -> String {
    list(tab, &NetworkFilters::default(), rendering::LIST_BUDGET)
}

/// How many tokens a text is, by two vocabularies that differ in size by half.
fn tokens(text: &str) -> [usize; 2] {
    let of = |tokenizer: &tiktoken_rs::CoreBPE| tokenizer.encode_ordinary(text).len();
    [of(tiktoken_rs::o200k_base_singleton()), of(tiktoken_rs::cl100k_base_singleton())]
}

#[test]
fn a_page_of_200_requests_is_listed_whole_in_less_than_6000_tokens() {
    let text = default(&page());
    let lines = text.lines().filter(|line| line.starts_with('#')).count();
    assert_eq!(lines, 200, "{text}");
    assert!(text.starts_with("200 requests, newest first"), "{text}");
    assert!(!text.contains("Left out"), "{text}");
    let tokens = tokens(&text);
    assert!(tokens.iter().all(|tokens| *tokens < 6_000), "{tokens:?} tokens:\n{text}");
}

#[test]
fn a_list_has_a_line_a_request_and_says_how_to_go_on() {
    let mut tab = Tab::new();
    let fetch = Some(ResourceType::Fetch);
    tab.get("1", "https://shop.test/", 200, 0);
    tab.sent(Requested {
        resource_type: fetch,
        ..requested("2", "POST", "https://shop.test/api/cart", 100)
    });
    tab.answer(answered("2", 500, 1_300));
    tab.finish(Finished { body_size: Some(1_234), ..finished("2", 1_350) });
    tab.sent(requested("3", "GET", "https://cdn.test/app.js", 200));
    tab.fail(failed("3", "net::ERR_CONNECTION_REFUSED", 212));
    tab.sent(requested("4", "GET", "http://plain.test/a", 300));
    tab.sent(Requested {
        resource_type: fetch,
        ..requested("5", "HEAD", "https://shop.test/up?deep=1", 400)
    });
    tab.answer(answered("5", 0, 410));
    tab.fail(failed("5", "net::ERR_ABORTED", 411));
    let url = Some("https://shop.test/missed".to_owned());
    tab.answer(Answered { url, ..answered("6", 200, 500) });
    insta::assert_snapshot!(default(&tab), @r"
    6 requests, newest first; paths are of https://shop.test
    #6 ? 200 /missed
    #5 HEAD opaque fetch 11ms /up?deep=1
    #4 GET pending http://plain.test/a
    #3 GET failed 12ms //cdn.test/app.js ERR_CONNECTION_REFUSED
    #2 POST 500 fetch 1.2kB 1.2s /api/cart
    #1 GET 200 20ms /
    id=NUMBER shows one with headers and body.
    after=13 lists what is new from here on.
    ");
}

#[test]
fn what_is_missing_is_said_and_what_is_left_out_can_be_had() {
    let mut tab = Tab::with(Limits { requests: 50, ..Limits::default() });
    for count in 1..=60 {
        tab.get(&count.to_string(), &format!("https://shop.test/items/{count}"), 200, count);
    }
    tab.buffer.miss(GapReason::Disconnected, None, at(90));
    tab.buffer.miss(GapReason::EventsLost, Some(12), at(95));
    let text = list(&tab, &NetworkFilters::default(), 150);
    insta::assert_snapshot!(text, @r"
    5 requests, newest first; paths are of https://shop.test
    #60 GET 200 20ms /items/60
    #59 GET 200 20ms /items/59
    #58 GET 200 20ms /items/58
    #57 GET 200 20ms /items/57
    #56 GET 200 20ms /items/56
    Missing: 10 requests or events, the buffer was full.
    Missing: some requests or events, the browser was not connected (at 2027-01-15T08:00:00.09Z).
    Missing: 12 requests or events, lost on their way from the browser (at 2027-01-15T08:00:00.095Z).
    Left out: 45 older. before=56 lists them; url_pattern, method, status_min or since narrow the list.
    id=NUMBER shows one with headers and body.
    after=182 lists what is new from here on.
    ");
    let before = text.split("before=").nth(1).unwrap().split(' ').next().unwrap().parse().ok();
    let older = list(&tab, &NetworkFilters { before, limit: Some(2), ..Default::default() }, 1_000);
    insta::assert_snapshot!(older, @r"
    2 requests, newest first; paths are of https://shop.test
    #55 GET 200 20ms /items/55
    #54 GET 200 20ms /items/54
    Missing: 10 requests or events, the buffer was full.
    Missing: some requests or events, the browser was not connected (at 2027-01-15T08:00:00.09Z).
    Missing: 12 requests or events, lost on their way from the browser (at 2027-01-15T08:00:00.095Z).
    Left out: 43 older. before=54 lists them; url_pattern, method, status_min or since narrow the list.
    id=NUMBER shows one with headers and body.
    after=182 lists what is new from here on.
    ");
    let newer = NetworkFilters { after: Some(0), limit: Some(1), ..Default::default() };
    insta::assert_snapshot!(list(&tab, &newer, 1_000), @r"
    1 request:
    #11 GET 200 20ms https://shop.test/items/11
    Missing: 10 requests or events, the buffer was full.
    Left out: 49 newer. after=33 lists them.
    id=NUMBER shows one with headers and body.
    after=33 lists what is new from here on.
    ");
    let none = NetworkFilters { url_pattern: Some("nothing".into()), ..Default::default() };
    insta::assert_snapshot!(list(&Tab::new(), &none, 1_000), @r"
    No request fits.
    after=0 lists what is new from here on.
    ");
}

#[test]
fn a_page_cannot_write_lines_of_its_own() {
    let mut tab = Tab::new();
    tab.sent(requested("1", "GET", "https://a.test/\n#99 GET 200 /forged\u{2028}#98\r", 0));
    tab.fail(failed("1", "bad\n#97 forged", 1));
    let text = default(&tab);
    assert_eq!(text.lines().filter(|line| line.starts_with('#')).count(), 1, "{text}");
    assert!(!text.contains(['\r', '\u{2028}']), "{text}");
}

#[test]
fn long_addresses_are_cut_in_the_middle() {
    let mut tab = Tab::new();
    let path = "very/".repeat(100);
    for count in 0..3 {
        tab.get(&count.to_string(), &format!("https://a.test/{path}end-{count}.js"), 200, 0);
    }
    insta::assert_snapshot!(list(&tab, &NetworkFilters::default(), 250), @r"
    3 requests, newest first; paths are of https://a.test
    #3 GET 200 20ms /very/very/very/very/very/very/v…very/very/very/very/very/end-2.js
    #2 GET 200 20ms /very/very/very/very/very/very/v…very/very/very/very/very/end-1.js
    #1 GET 200 20ms /very/very/very/very/very/very/v…very/very/very/very/very/end-0.js
    id=NUMBER shows one with headers and body.
    after=9 lists what is new from here on.
    ");
}

#[test]
fn one_request_is_shown_with_headers_and_bodies() {
    let mut tab = Tab::new();
    tab.sent(Requested {
        headers: Some(headers(&[
            ("Content-Type", "application/json"),
            ("Cookie", "sid=1; theme=dark"),
        ])),
        body: Some(r#"{"item":7,"password":"hunter2"}"#.into()),
        resource_type: Some(ResourceType::Fetch),
        frame: Some("https://pay.test/frame".into()),
        ..requested("1", "POST", "https://shop.test/login?next=%2Fcart", 0)
    });
    tab.answer(Answered {
        status_text: Some("OK".into()),
        headers: Some(headers(&[("set-cookie", "sid=2; Path=/; HttpOnly\ntheme=dark")])),
        mime_type: Some("application/json".into()),
        ..answered("1", 200, 30)
    });
    let body = Some(format!(r#"{{"access_token":"abc","items":"{}"}}"#, "x".repeat(500)));
    tab.finish(Finished { body, body_size: Some(530), ..finished("1", 45) });
    insta::assert_snapshot!(rendering::request(&tab.only(), 700), @r#"
    #1 POST https://shop.test/login?next=%2Fcart
    sent 2027-01-15T08:00:00Z, 200 OK, 45ms, 530B, fetch, application/json
    frame: https://pay.test/frame
    request headers:
    Content-Type: application/json
    Cookie: sid=[redacted]; theme=[redacted]
    response headers:
    set-cookie: sid=[redacted]; Path=/; HttpOnly
    set-cookie: theme=[redacted]
    request body:
    {"item":7,"password":"[redacted]"}
    response body (the first 324 of 540 characters):
    {"access_token":"[redacted]","items":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    "#);
}

#[test]
fn a_socket_is_shown_with_its_messages() {
    let mut tab = Tab::new();
    let url = "wss://shop.test/live";
    tab.sent(Requested {
        resource_type: Some(ResourceType::WebSocket),
        ..requested("1", "GET", url, 0)
    });
    tab.answer(answered("1", 101, 5));
    for (direction, payload, millis) in
        [(Direction::Sent, r#"{"token":"abc"}"#, 10), (Direction::Received, "welcome\nback", 20)]
    {
        let payload = payload.to_owned();
        let message = SocketMessage {
            timestamp: at(millis),
            direction,
            payload,
            binary: false,
            payload_truncated: false,
            size: None,
        };
        let event = SocketEvent { request_id: "1".into(), message };
        tab.apply(Source::Debugger, NetworkChange::Message(event));
    }
    insta::assert_snapshot!(default(&tab), @r"
    1 request:
    #1 GET 101 websocket wss://shop.test/live 2 messages
    id=NUMBER shows one with headers and body.
    after=4 lists what is new from here on.
    ");
    insta::assert_snapshot!(rendering::request(&tab.only(), 2_000), @r#"
    #1 GET wss://shop.test/live
    sent 2027-01-15T08:00:00Z, 101, websocket, not ended
    messages, newest first (2 of 2):
    received 2027-01-15T08:00:00.02Z welcome back
    sent 2027-01-15T08:00:00.01Z {"token":"[redacted]"}
    "#);
}
