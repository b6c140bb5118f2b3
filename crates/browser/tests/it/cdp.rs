//! The CDP client against a browser that the test plays.

use crate::fixture::{Kept, site};
use baton_browser::cdp::{
    self, CdpError, Connection, Event, Events, FrameReader, FrameWriter, Transport,
};
use baton_browser::keeper::Role;
use baton_testing::Nobody;
use serde_json::{Value, json};
use std::time::Duration;

/// A connection, and the browser's end of it.
fn pair() -> (Connection, Events, FrameReader, FrameWriter) {
    let (ours, theirs) = tokio::io::duplex(1024);
    let (reader, writer) = tokio::io::split(ours);
    let (connection, events) = Connection::start(Transport::nul(reader, writer));
    let (reader, writer) = tokio::io::split(theirs);
    let (reader, writer) = Transport::nul(reader, writer).split();
    (connection, events, reader, writer)
}

async fn received(reader: &mut FrameReader) -> Value {
    serde_json::from_slice(&reader.next().await.unwrap().unwrap()).unwrap()
}

#[tokio::test]
async fn replies_find_their_calls_in_any_order() {
    let (connection, _events, mut reader, mut writer) = pair();
    let (page, browser) = (connection.session("S".into()), connection.browser());
    let answering = async {
        let (first, second) = (received(&mut reader).await, received(&mut reader).await);
        assert_eq!(
            first,
            json!({"id": first["id"], "method": "A.a", "params": {"x": 1}, "sessionId": "S"})
        );
        for (call, body) in [
            (&second, r#""error":{"code":-32000,"message":"no"}"#),
            (&first, r#""result":{"y":2}"#),
        ] {
            writer.send(format!("{{\"id\":{},{body}}}", call["id"]).into_bytes()).await.unwrap();
        }
    };
    let (first, second, ()) =
        tokio::join!(page.call("A.a", json!({"x": 1})), browser.call("B.b", ()), answering);
    assert_eq!(first.unwrap(), json!({"y": 2}));
    assert!(second.unwrap_err().says("no"));
}

#[tokio::test]
async fn what_is_not_understood_is_counted_and_costs_nothing() {
    let (connection, mut events, _reader, mut writer) = pair();
    for frame in
        ["nonsense", r#"{"neither":1}"#, r#"{"method":"A.b","params":{"x":"\ud800"},"new":0}"#]
    {
        writer.send(frame.into()).await.unwrap();
    }
    let Some(Event::Message { session: None, method, params }) = events.next().await else {
        panic!("expected the event");
    };
    assert_eq!((method.as_str(), params.get()), ("A.b", r#"{"x":"\ud800"}"#));
    assert_eq!(connection.not_understood(), 2);
}

#[tokio::test]
async fn a_result_with_a_lone_surrogate_is_an_error_of_this_call_only() {
    let (connection, _events, mut reader, mut writer) = pair();
    let answering = async {
        for _ in 0..2 {
            let id = received(&mut reader).await["id"].clone();
            let reply = format!(r#"{{"id":{id},"result":{{"x":"\ud800"}}}}"#);
            writer.send(reply.into()).await.unwrap();
        }
    };
    let browser = connection.browser();
    let calling = async {
        let decoded = browser.call("A.a", ()).await;
        (decoded, browser.call_raw(cdp::CALL_LIMIT, "A.a", ()).await)
    };
    let ((decoded, raw), ()) = tokio::join!(calling, answering);
    assert!(matches!(decoded, Err(CdpError::Decode { method: "A.a", .. })));
    assert_eq!(raw.unwrap().get(), r#"{"x":"\ud800"}"#);
}

#[tokio::test]
async fn a_call_without_an_answer_ends_at_its_limit() {
    let (connection, _events, _reader, _writer) = pair();
    let limit = Duration::from_millis(10);
    let error = connection.browser().call_within(limit, "A.a", ()).await.unwrap_err();
    assert_eq!(error.to_string(), "A.a: expected an answer within 10ms, found none");
}

#[tokio::test]
async fn a_closed_connection_fails_waiting_and_later_calls_at_once() {
    let (connection, mut events, mut reader, writer) = pair();
    let browser = connection.browser();
    let closing = async {
        received(&mut reader).await;
        drop((reader, writer));
    };
    let (waiting, ()) = tokio::join!(browser.call("A.a", ()), closing);
    assert!(waiting.unwrap_err().is_closed());
    assert!(browser.call("A.a", ()).await.unwrap_err().is_closed());
    assert!(connection.is_closed());
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn a_session_that_ends_fails_its_waiting_calls_and_no_others() {
    let (connection, _events, mut reader, mut writer) = pair();
    let (page, browser) = (connection.session("S".into()), connection.browser());
    let ending = async {
        received(&mut reader).await;
        let id = received(&mut reader).await["id"].clone();
        let gone = r#"{"method":"Target.detachedFromTarget","params":{"sessionId":"S"}}"#;
        writer.send(gone.into()).await.unwrap();
        writer.send(format!(r#"{{"id":{id},"result":{{}}}}"#).into()).await.unwrap();
    };
    let (waiting, other, ()) = tokio::join!(page.call("A.a", ()), browser.call("B.b", ()), ending);
    assert!(waiting.unwrap_err().says("Session with given id not found."));
    assert_eq!(other.unwrap(), json!({}));
}

#[tokio::test]
async fn a_call_that_would_end_the_browser_is_not_sent() {
    let kept = Kept::new().await;
    let browser = kept.connect(Role::Client).await.connection.browser();
    let refused = browser.call("Browser.getVersion", "x".repeat(105_000_000)).await.unwrap_err();
    assert!(matches!(refused, CdpError::TooLarge { limit: 104_853_504, .. }), "{refused}");
    let largest = json!({ "ignored": "x".repeat(104_850_000) });
    // A hundred megabytes take a busy machine a while.
    let limit = Duration::from_mins(1);
    browser.call_within(limit, "Browser.getVersion", largest).await.unwrap();
    kept.close().await;
}

#[tokio::test]
async fn an_address_without_a_browser_says_what_is_there() {
    let refusing = Nobody::listens();
    let nobody = refusing.address();
    let web = site("<h1>hello</h1>").await;
    let cases = [
        (format!("http://{nobody}"), format!("unreachable: expected a DevTools endpoint at http://{nobody}/json/version, found Connection refused (os error 111)")),
        (format!("ws://{nobody}/x"), format!("unreachable: expected a DevTools endpoint at ws://{nobody}/x, found Connection refused (os error 111)")),
        (web.clone(), format!("unreachable: expected a DevTools endpoint at {web}json/version, found an answer that is no JSON (expected value at line 1 column 1)")),
        ("wss://example.org".to_owned(), "expected a CDP address such as http://127.0.0.1:9222 or ws://…, found \"wss://example.org\"".to_owned()),
        ("9222".to_owned(), "expected a CDP address such as http://127.0.0.1:9222 or ws://…, found \"9222\"".to_owned()),
    ];
    for (address, expected) in cases {
        let found = cdp::connect(&address).await.err().map(|error| error.to_string());
        assert_eq!(found, Some(expected));
    }
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_sent_or_the_connection_ends() {
    let (connection, mut events, _reader, _writer) = pair();
    let page = connection.session("S".into());
    let mut sent = 0;
    // The browser reads nothing, so there is room for some.
    while !connection.is_closed() {
        page.post("Runtime.runIfWaitingForDebugger", json!({}));
        sent += 1;
        assert!(sent < 100_000, "calls are dropped without a word");
    }
    let error = page.call("A.a", json!({})).await.unwrap_err();
    assert!(error.is_closed(), "{error}");
    assert!(events.next().await.is_none());
}

#[tokio::test]
async fn a_paused_request_that_nobody_takes_ends_the_connection() {
    let (connection, mut events, _reader, mut writer) = pair();
    let paused = r#"{"method":"Fetch.requestPaused","params":{"requestId":"1"}}"#;
    let telling = async {
        for told in 0.. {
            assert!(told < 100_000, "requests wait for ever, and nobody knows");
            if writer.send(paused.into()).await.is_err() {
                break;
            }
        }
    };
    tokio::join!(telling, connection.closed());
    let mut taken = 0;
    while let Some(event) = events.next().await {
        match event {
            Event::Message { .. } => taken += 1,
            // The one that ended it, and what came before that was seen.
            Event::Overflow { dropped } => assert!(dropped >= 1, "{dropped}"),
        }
    }
    assert!(taken > 8192, "{taken}");
}
