//! Messages of the debug protocol, as browsers and other programs write and read them.

use baton_api::debug::{
    BrowserMessage, ClientMessage, ConsoleLevel, EpochMs, GapReason, MAX_MESSAGE_BYTES,
    NetworkChange, NetworkRequest, RelayMessage, ResourceType, Source, TabToken,
};
use serde_json::{Value, json};

const TOKEN: &str = "k3v7q2mzk3v7q2mz";
const NOW: u64 = 1_800_000_000_000;

fn browser(message: &Value) -> Result<BrowserMessage, String> {
    BrowserMessage::read(&message.to_string()).map_err(|error| error.to_string())
}

fn client(message: &Value) -> Result<ClientMessage, String> {
    ClientMessage::read(&message.to_string()).map_err(|error| error.to_string())
}

fn event(event: &str, data: &Value) -> Value {
    json!({"type": "browser_debug_network_event", "token": TOKEN, "event": event, "data": data})
}

#[test]
fn every_message_of_a_browser_comes_back_as_it_was() {
    let headers = json!({"accept": "*/*"});
    let messages = [
        json!({"type": "browser_debug_tab_available", "token": "aGVhZGVy.bWFj", "browser_id": "b",
               "url": "https://a.test/", "title": "A", "favicon": "https://a.test/icon"}),
        json!({"type": "browser_debug_tab_closed", "token": TOKEN}),
        json!({"type": "browser_debug_tab_updated", "token": TOKEN, "url": "https://a.test/b", "title": ""}),
        event(
            "request",
            &json!({"request_id": "1", "timestamp": NOW, "method": "POST",
               "url": "https://a.test/", "headers": headers, "body": "a=1"}),
        ),
        event(
            "response",
            &json!({"request_id": "1", "timestamp": NOW, "status": 200,
               "status_text": "OK", "headers": headers, "mime_type": "text/html"}),
        ),
        event(
            "finished",
            &json!({"request_id": "1", "timestamp": NOW, "body": "x",
               "body_truncated": true, "duration_ms": 12}),
        ),
        event("failed", &json!({"request_id": "1", "timestamp": NOW, "error": "net::ERR_FAILED"})),
        event(
            "message",
            &json!({"request_id": "1", "timestamp": NOW, "direction": "sent", "payload": "hi"}),
        ),
        json!({"type": "browser_debug_console_event", "token": TOKEN, "entry": {
               "timestamp": NOW, "level": "warn", "args": [1, {"a": null}], "message": "1",
               "source": "https://a.test/app.js", "line": 1, "column": 2, "stack_trace": "at a"}}),
        json!({"type": "browser_debug_heartbeat"}),
    ];
    for message in messages {
        let read = browser(&message).unwrap();
        let mut written = serde_json::to_value(&read).unwrap();
        for ours in ["source", "seq"] {
            for place in ["", "/entry"] {
                if let Some(fields) = written.pointer_mut(place).and_then(Value::as_object_mut)
                    && message.pointer(place).is_some_and(|sent| sent.get(ours).is_none())
                {
                    fields.remove(ours);
                }
            }
        }
        assert_eq!(written, message);
    }
}

#[test]
fn every_question_comes_back_as_it_was() {
    let messages = [
        json!({"type": "browser_debug_list_tabs"}),
        json!({"type": "browser_debug_get_network", "request_id": "q", "token": TOKEN, "filters": {
               "url_pattern": "api", "method": ["GET"], "status_min": 200, "status_max": 299,
               "since": NOW, "limit": 5}}),
        json!({"type": "browser_debug_get_network", "request_id": "q", "token": TOKEN}),
        json!({"type": "browser_debug_get_console", "request_id": "q", "token": TOKEN, "filters": {
               "level": ["error"], "message_pattern": "x", "since": NOW, "limit": 5}}),
    ];
    for message in messages {
        assert_eq!(serde_json::to_value(client(&message).unwrap()).unwrap(), message);
    }
}

#[test]
fn answers_of_a_relay_that_knows_the_protocol_alone_are_read() {
    let answers = [
        json!({"type": "browser_debug_tabs", "tabs": [{"token": TOKEN, "browser_id": "b",
               "url": "https://a.test/", "title": "A", "cocoon_id": "c"}]}),
        json!({"type": "browser_debug_network_data", "request_id": "q", "requests": [{
               "request_id": "1", "timestamp": NOW, "method": "GET", "url": "https://a.test/",
               "status": 200, "response_body": "x", "response_body_truncated": true, "duration_ms": 3}]}),
        json!({"type": "browser_debug_console_data", "request_id": "q", "entries": [{
               "timestamp": NOW, "level": "log", "args": [], "message": "x"}]}),
        json!({"type": "browser_debug_error", "request_id": "q", "code": "tab_gone", "message": "gone"}),
    ];
    for answer in answers {
        let read = RelayMessage::read(&answer.to_string()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap()["type"], answer["type"]);
    }
}

#[test]
fn what_we_add_may_be_there_and_what_nobody_knows_is_ignored() {
    let mut message = event(
        "request",
        &json!({"request_id": "1", "timestamp": 1_800_000_000_000.4,
        "method": "GET", "url": "https://a.test/", "resource_type": "XMLHttpRequest", "worker": "w.js",
        "from_the_future": [1], "body": null}),
    );
    for (name, value) in [("seq", json!(7)), ("source", json!("webRequest")), ("other", json!({}))]
    {
        message[name] = value;
    }
    let BrowserMessage::Network(read) = browser(&message).unwrap() else {
        panic!("another message")
    };
    assert_eq!((read.seq, read.source), (Some(7), Source::WebRequest));
    assert_eq!((read.change.request_id(), read.change.timestamp()), ("1", EpochMs::new(NOW)));
    let NetworkChange::Request(sent) = read.change else { panic!("another event") };
    assert_eq!(sent.worker.as_deref(), Some("w.js"));
    assert_eq!(sent.resource_type, Some(ResourceType::Xhr));
    assert_eq!(ResourceType::from("tomorrow".to_owned()), ResourceType::Other);
    assert_eq!(ResourceType::from("main_frame".to_owned()), ResourceType::Document);
    let level: ConsoleLevel = serde_json::from_value(json!("warning")).unwrap();
    assert_eq!(level, ConsoleLevel::Warn);
}

#[test]
fn bad_values_are_refused_with_a_reason() {
    let sent = |field: &str, value: Value| {
        let mut data = json!({"request_id": "1", "timestamp": NOW, "method": "GET", "url": "/"});
        data[field] = value;
        browser(&event("request", &data)).unwrap_err()
    };
    let answer = |field: &str, value: Value| {
        let mut data = json!({"request_id": "1", "timestamp": NOW, "status": 200});
        data[field] = value;
        browser(&event("response", &data)).unwrap_err()
    };
    let ask = |filters: Value| {
        let message = json!({"type": "browser_debug_get_network", "request_id": "q", "token": TOKEN,
                             "filters": filters});
        client(&message).unwrap_err()
    };
    let refusals = [
        sent("timestamp", json!(12_345.678)),
        sent("timestamp", json!(1_800_000_000)),
        sent("timestamp", json!(-1)),
        sent("timestamp", json!("now")),
        sent("timestamp", json!(1e300)),
        sent("method", json!("GET /")),
        sent("request_id", json!("")),
        sent("request_id", json!("x".repeat(257))),
        answer("status", json!(1000)),
        answer("status", json!("200")),
        ask(json!({"limit": -1})),
        ask(json!({"since": "yesterday"})),
        ask(json!({"method": "GET"})),
        browser(&json!({"type": "browser_debug_tab_closed", "token": "../etc"})).unwrap_err(),
        browser(&json!({"type": "browser_debug_console_event", "token": TOKEN,
            "entry": {"timestamp": NOW, "level": "loud", "message": "x"}}))
        .unwrap_err(),
        browser(&json!({"type": "browser_debug_everything"})).unwrap_err(),
        browser(&event("exploded", &json!({}))).unwrap_err(),
        browser(&json!({"token": TOKEN})).unwrap_err(),
        browser(&json!([1, 2])).unwrap_err(),
        client(&json!({"type": "browser_debug_get_network", "token": TOKEN})).unwrap_err(),
        BrowserMessage::read("{\"type\":").unwrap_err().to_string(),
        BrowserMessage::read(&" ".repeat(MAX_MESSAGE_BYTES + 1)).unwrap_err().to_string(),
        BrowserMessage::read(&format!("{{\"type\":\"{}\"}}", "x".repeat(100_000)))
            .unwrap_err()
            .to_string()
            .len()
            .to_string(),
    ];
    let short =
        |refusal: &String| refusal.split(", expected one of").next().unwrap_or_default().to_owned();
    let prefix = "expected a message of the debug protocol, found another: ";
    let told: Vec<String> =
        refusals.iter().map(|refusal| short(&refusal.replace(prefix, ""))).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    expected milliseconds since 1970, not seconds and not a monotonic clock, found 12346
    expected milliseconds since 1970, not seconds and not a monotonic clock, found 1800000000
    expected milliseconds since 1970 from 0 on, found -1
    invalid type: string "now", expected milliseconds since 1970 from 0 to 253402207199999
    expected milliseconds since 1970 up to 253402207199999, found 18446744073709551615
    expected a method of HTTP such as GET, found something else
    expected an id of 1 to 256 bytes, found 0
    expected an id of 1 to 256 bytes, found 257
    expected a status up to 999, found 1000
    invalid type: string "200", expected a status from 0 to 999
    invalid value: integer `-1`, expected u32
    invalid type: string "yesterday", expected milliseconds since 1970 from 0 to 253402207199999
    invalid type: string "GET", expected a sequence
    expected the token of a tab: 8 to 64 letters, digits, '_' or '-', found a shorter text
    unknown variant `loud`
    unknown variant `browser_debug_everything`
    unknown variant `exploded`
    missing field `type` at line 1 column 28
    invalid type: integer `1`, expected variant identifier at line 1 column 2
    missing field `request_id`
    EOF while parsing a value at line 1 column 8
    expected a message of up to 4194304 bytes, found 4194305
    357
    "#);
}

#[test]
fn a_token_names_a_tab_and_is_safe_anywhere() {
    let token = TabToken::new([0, 31, 32, 255, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    insta::assert_snapshot!(token, @"a9a9bcdefghijkmn");
    assert_eq!(token.as_str().parse::<TabToken>().unwrap(), token);
    for bad in
        ["", "short", "with space", "a/../../b", "ünïcödé-token", &"x".repeat(65), "a.b.c.d.e"]
    {
        assert!(bad.parse::<TabToken>().is_err(), "{bad}");
    }
    insta::assert_snapshot!("c2VjcmV0.bWFj".parse::<TabToken>().unwrap_err(), @"expected the token of a tab: 8 to 64 letters, digits, '_' or '-', found another character");
}

#[test]
fn a_secret_of_a_header_does_not_show_in_debug_output() {
    let message = json!({"type": "browser_debug_tab_available", "token": "c2VjcmV0.bWFj",
                         "browser_id": "b", "url": "https://a.test/", "title": ""});
    assert!(!format!("{:?}", browser(&message).unwrap()).contains("c2VjcmV0"));
}

#[test]
fn instants_are_milliseconds_since_1970() {
    let instant = EpochMs::new(NOW);
    assert_eq!(instant.to_string(), "2027-01-15T08:00:00Z");
    assert_eq!(
        (instant.since(EpochMs::new(NOW - 5)), instant.since(EpochMs::new(NOW + 5))),
        (5, 0)
    );
    assert_eq!(EpochMs::new(u64::MAX).to_string(), "9999-12-30T21:59:59.999Z");
    assert_eq!(serde_json::to_value(instant).unwrap(), NOW);
}

#[test]
fn a_request_without_bodies_keeps_everything_else() {
    let whole = json!({
        "request_id": "1", "timestamp": NOW, "method": "GET", "url": "https://a.test/", "number": 3,
        "seq": 9, "status": 200, "status_text": "OK", "mime_type": "text/html", "source": ["debugger"],
        "request_headers": {"a": "b"}, "response_headers": {"c": "d"}, "duration_ms": 4, "ended": true,
        "request_body": "x", "response_body": "y", "messages": [
            {"timestamp": NOW, "direction": "received", "payload": "hi"}],
    });
    let request: NetworkRequest = serde_json::from_value(whole.clone()).unwrap();
    assert_eq!(serde_json::to_value(&request).unwrap(), whole);
    let mut less = whole;
    for body in ["request_body", "response_body", "messages"] {
        less.as_object_mut().unwrap().remove(body);
    }
    assert_eq!(serde_json::to_value(request.without_bodies()).unwrap(), less);
    assert_eq!(serde_json::to_value(GapReason::BufferFull).unwrap(), "buffer_full");
}

#[test]
fn connections_end_with_codes_that_browsers_know_and_the_reference_lists() {
    use baton_api::debug::LinkEnd;
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let read = |path: &str| std::fs::read_to_string(format!("{root}/{path}")).unwrap();

    let told = read("extensions/chrome/src/link/codes.ts");
    let (_, table) = told.split_once("export const CODES = {\n").unwrap();
    let (table, _) = table.split_once("\n} as const").unwrap();
    let ours: Vec<String> =
        LinkEnd::ALL.iter().map(|end| format!("  {}: {},", snake(*end), end.code())).collect();
    assert_eq!(table, ours.join("\n"), "codes.ts and LinkEnd are one table");

    let reference = read("docs/reference/http.md");
    let (_, ends) = reference.split_once("Connections end with ").unwrap();
    let (ends, _) = ends.split_once('.').unwrap();
    let told = ends.split(", ").map(|end| end.split(' ').next().unwrap());
    let mut told: Vec<u16> = told.map(|code| code.parse().unwrap()).collect();
    told.sort_unstable();
    let ours: Vec<u16> = LinkEnd::ALL.iter().map(|end| end.code()).collect();
    assert_eq!(told, ours, "the reference and LinkEnd are one table");
}

/// `TooMany` as `too_many`.
fn snake(end: baton_api::debug::LinkEnd) -> String {
    let name = format!("{end:?}");
    let parts = name.char_indices().map(|(at, c)| match c {
        'A'..='Z' if at > 0 => format!("_{}", c.to_ascii_lowercase()),
        _ => c.to_ascii_lowercase().to_string(),
    });
    parts.collect()
}
