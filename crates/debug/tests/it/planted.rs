//! No secret that was planted anywhere in a tab comes out again, in data, words or files.

use super::{Tab, answered, at, finished, headers, line, redactor, requested};
use baton_api::debug::{
    Answered, ConsoleEntry, ConsoleFilters, ConsoleLevel, Direction, Finished, NetworkChange,
    NetworkFilters, Redirected, Requested, SocketEvent, SocketMessage, Source,
};
use baton_debug::har::har;
use baton_debug::query::{ConsoleFilter, RequestFilter};
use baton_debug::secrets::Page;
use baton_debug::{Clean, rendering};
use baton_testing::cases;
use proptest::prelude::*;
use serde_json::json;

pub(super) const SECRET: &str = "c0rrectHorse7Battery";
pub(super) const PUBLIC: &str = "ordinary-words";

/// Bodies and messages of many shapes, each with the secret in it.
pub(super) fn bodies() -> Vec<String> {
    let s = SECRET;
    vec![
        format!(r#"{{"user":"ada","password":"{s}","note":"{PUBLIC}"}}"#),
        format!(
            r#"{{"data":{{"auth":{{"access_token":"{s}"}}}},"list":[{{"clientSecret":"{s}"}}]}}"#
        ),
        format!(r#"{{"tokens":["{s}","{s}"],"keys":{{"privateKey":"{s}"}}}}"#),
        format!(r#"[{{"name":"Authorization","value":"{s}"}}]"#),
        format!(r#"{{"raw":"{{\"password\":\"{s}\"}}"}}"#),
        format!(r#"{{"query":"mutation {{ login(password: \"{s}\") }}"}}"#),
        format!(r#"{{"half":1,"refreshToken":"{s}"#),
        format!("user=ada&password={s}&note={PUBLIC}"),
        format!("next=%2Fa%3Ftoken%3D{s}&grant_type=authorization_code&code={s}"),
        format!("--x\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n{s}\r\n--x--\r\n"),
        format!("<Login><Password>{s}</Password></Login>"),
        format!("<form><input type=\"hidden\" name=\"csrf_token\" value=\"{s}\"></form>"),
        format!("<script>window.config = {{ apiKey: '{s}' }}</script>"),
        format!("data: {{\"session_token\":\"{s}\"}}\n\n"),
        format!("password={s}\nuser=ada\n"),
    ]
}

/// Lines of a console of many shapes.
pub(super) fn messages() -> Vec<String> {
    let s = SECRET;
    vec![
        format!("token: {s}"),
        format!("login with password={s} failed"),
        format!("Authorization: Bearer {s}"),
        format!("Bearer {s}"),
        format!("fetch https://ada:{s}@a.test/?api_key={s}#access_token={s}"),
        format!("cookie: sid={s}; theme=dark"),
        format!("{{\"secret\": \"{s}\"}}"),
        format!("eyJhbGciOiJIUzI1NiJ9.{s}.{s}"),
        format!("sk-live_{s}"),
        format!("x=k3J9xQ2mN8vB5zL1{s}"),
        format!("-----BEGIN RSA PRIVATE KEY-----\n{s}\n-----END RSA PRIVATE KEY-----"),
    ]
}

pub(super) fn addresses() -> Vec<String> {
    let s = SECRET;
    vec![
        format!("https://ada:{s}@a.test/in?token={s}&page=2#access_token={s}"),
        format!("https://a.test/cb?code={s}&state={s}&next=https%3A%2F%2Fb.test%2F%3Fkey%3D{s}"),
        format!("https://a.test/#/reset?password={s}"),
        format!("https://a.test/reset-token/{s}/form"),
        format!("https://a.test/p;jsessionid={s}"),
        format!("data:text/plain,{s}"),
        format!("wss://a.test/ws?ticket={s}"),
    ]
}

fn plant(tab: &mut Tab) {
    for (count, (url, body)) in addresses().iter().cycle().zip(bodies()).enumerate() {
        let id = count.to_string();
        let all = headers(&[
            ("Authorization", &format!("Bearer {SECRET}")),
            ("Proxy-Authorization", SECRET),
            ("Cookie", &format!("sid={SECRET}; {SECRET}")),
            ("set-cookie", &format!("sid={SECRET}; Path=/\ntoken={SECRET}")),
            ("X-Api-Key", SECRET),
            ("x-auth-token", SECRET),
            ("Referer", url),
            ("Location", url),
            ("Sec-WebSocket-Protocol", &format!("v1, ticket.{SECRET}")),
        ]);
        let redirect_response = (count % 3 == 0).then(|| Redirected {
            status: 302,
            status_text: None,
            headers: Some(all.clone()),
        });
        tab.sent(requested(&id, "GET", url, 0));
        tab.sent(Requested {
            headers: Some(all.clone()),
            body: Some(body.clone()),
            frame: Some(url.clone()),
            worker: Some(url.clone()),
            redirect_response,
            ..requested(&id, "POST", url, 1)
        });
        tab.answer(Answered {
            headers: Some(all),
            url: Some(url.clone()),
            ..answered(&id, 200, 2)
        });
        tab.finish(Finished { body: Some(body.clone()), ..finished(&id, 3) });
        let message = SocketMessage {
            timestamp: at(4),
            direction: Direction::Received,
            payload: body,
            binary: false,
            payload_truncated: false,
            size: None,
        };
        let event = SocketEvent { request_id: id, message };
        tab.apply(Source::Debugger, NetworkChange::Message(event));
    }
    for (url, message) in addresses().iter().cycle().zip(messages()) {
        let args = vec![
            json!(message),
            json!({"password": SECRET, "deep": [{"apiKey": SECRET}], "note": PUBLIC}),
            json!("token:"),
            json!(SECRET),
        ];
        tab.write(ConsoleEntry {
            source: Some(url.clone()),
            stack_trace: Some(format!("at pay ({url}:1:2)")),
            args,
            ..line(ConsoleLevel::Error, &format!("{message} token: {SECRET}"), 5)
        });
    }
    tab.write(ConsoleEntry {
        args: vec![json!("password"), json!(SECRET)],
        ..line(ConsoleLevel::Log, &format!("password {SECRET}"), 6)
    });
    // What is hidden itself is the name of the next one.
    tab.write(ConsoleEntry {
        args: vec![json!("password"), json!("token"), json!(SECRET)],
        ..line(ConsoleLevel::Log, &format!("password token {SECRET}"), 7)
    });
    for url in addresses() {
        let page = Page { url, title: format!("token={SECRET}") };
        tab.buffer.show(Clean::page(&page, &tab.limits, &mut tab.redactor));
    }
}

/// Everything that comes out of a tab.
fn outputs(tab: &Tab) -> Vec<String> {
    let requests = RequestFilter::new(&NetworkFilters::default()).unwrap().find(&tab.buffer);
    let lines = ConsoleFilter::new(&ConsoleFilters::default()).unwrap().find(&tab.buffer);
    let mut out = vec![
        rendering::network(&requests, usize::MAX),
        rendering::console(&lines, usize::MAX),
        serde_json::to_string(&har(&tab.buffer)).unwrap(),
        format!("{:?}", tab.buffer),
    ];
    out.extend(requests.items.iter().map(|one| rendering::request(one, usize::MAX)));
    out.extend(lines.items.iter().map(|one| rendering::entry(one, usize::MAX)));
    out.push(serde_json::to_string(&requests.into_data("q".into(), true)).unwrap());
    out.push(serde_json::to_string(&lines.into_data("q".into())).unwrap());
    out
}

#[test]
fn no_planted_secret_comes_out() {
    let mut tab = Tab::new();
    plant(&mut tab);
    let outputs = outputs(&tab);
    for output in &outputs {
        if let Some(place) = output.find(SECRET) {
            let around = output.get(place.saturating_sub(120)..place + 40).unwrap_or(output);
            panic!("it came out: {around}");
        }
    }
    let all = outputs.concat();
    assert!(all.contains("[redacted]"), "what was hidden says so");
    assert!(all.contains(PUBLIC), "what is no secret stays");
}

/// A hundred times as long takes a hundred times as long, not ten thousand times: that would be days.
#[test]
fn a_long_text_of_any_shape_is_looked_through() {
    let shapes = [
        "a=",
        "\"a\":\"",
        "[\"",
        "name=password ",
        "token: bearer ",
        "http://a",
        "<password>",
        "x=\\\"",
        "a-",
        "eyA-",
        "aaaaaaaaaa.",
        "password ",
        "a, ",
        "-p ",
        "/token",
        "[\"login\",",
    ];
    for shape in shapes {
        let text = shape.repeat(100_000 / shape.len());
        for mime in ["application/json", "text/html", "application/x-www-form-urlencoded"] {
            let redacted = redactor().body(&text, Some(mime));
            assert!(!redacted.is_empty());
        }
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn a_body_cut_anywhere_hides_its_secret(which in 0..15usize, at in 0..200usize) {
        let body = &bodies()[which];
        let cut = &body[..body.floor_char_boundary(at.min(body.len()))];
        let redacted = redactor().body(cut, None);
        // The first characters of a value may be the end of its name; more are not.
        prop_assert!(!redacted.contains(&SECRET[..8]), "{cut}\n{redacted}");
    }

    #[test]
    fn no_text_makes_it_stumble(text in ".{0,80}", odd in "[\"'\\\\{}\\[\\]:=<>&%;,\u{e9}tokenpassword ]{0,80}") {
        for text in [&text, &odd] {
            let mut redactor = redactor();
            let (args, message) = redactor.console(text, text);
            let shapes = [
                args,
                message,
                redactor.body(text, Some("application/json")),
                redactor.body(text, Some("application/x-www-form-urlencoded")),
                redactor.body(text, Some("multipart/form-data")),
                redactor.body(text, Some("text/html")),
                redactor.body(text, Some("text/csv")),
                redactor.body(text, Some("text/event-stream")),
                redactor.address(text),
                redactor.header("x", text),
                redactor.header("cookie", text),
                redactor.line(text),
                redactor.body(text, Some("text/javascript")),
                redactor.socket("1 received", text),
            ];
            prop_assert!(shapes.iter().all(|shape| shape.len() <= 40 + text.len() * 12));
        }
    }
}
