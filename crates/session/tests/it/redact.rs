//! No secret that was planted anywhere comes out again.

use crate::arbitrary;
use baton_redaction::ShownAddress;
use baton_session::egress::{Egress, ProxyCredentials};
use baton_session::redact::redact;
use baton_session::state::OriginState;
use baton_session::stored::{CachedResponse, FileContent};
use baton_session::value::{Node, Number, Object};
use baton_session::{Entries, Environment, State, Text, Value};
use baton_testing::cases;
use proptest::prelude::*;

const SECRET: &str = "c0rrectHorse";
const SECRET_BASE64: &str = "YzBycmVjdEhvcnNl";
const SECRET_NUMBER: f64 = 8_274_615_530_271.0;
const SECRET_DIGITS: &str = "8274615530271";

/// Puts the secret wherever a state can keep one.
fn plant(state: &mut State) {
    for cookie in &mut state.cookies {
        cookie.value = SECRET.into();
    }
    if let Some(egress) = &mut state.environment.egress {
        let password = SECRET.to_owned();
        egress.credentials = Some(ProxyCredentials { user: "ada".to_owned(), password });
    }
    for origin in state.origins.values_mut() {
        plant_entries(&mut origin.local_storage);
        for database in &mut origin.databases {
            let records = database.stores.iter_mut().flat_map(|store| &mut store.records);
            records.for_each(|record| plant_value(&mut record.value));
        }
        plant_stored(origin);
    }
    for tab in &mut state.tabs {
        tab.url = format!("https://ada:{SECRET}@app.test/in?token={SECRET}&{SECRET}#{SECRET}");
        tab.session_storage.values_mut().for_each(plant_entries);
        for entry in &mut tab.history.entries {
            entry.url.clone_from(&tab.url);
            entry.state = Some(Value::primitive(Node::String(SECRET.into())));
        }
    }
}

fn plant_stored(origin: &mut OriginState) {
    let address = || format!("https://ada:{SECRET}@app.test/in?token={SECRET}#{SECRET}");
    for entry in origin.caches.iter_mut().flat_map(|cache| &mut cache.entries) {
        entry.url = address();
        entry.headers.iter_mut().for_each(|(_, value)| *value = SECRET.into());
        if let CachedResponse::Whole { headers, body, .. } = &mut entry.response {
            for (_, value) in headers {
                *value = SECRET.into();
            }
            *body = SECRET_BASE64.into();
        }
    }
    for file in origin.files.iter_mut().chain(&mut origin.raw) {
        if let FileContent::File { bytes } = &mut file.content {
            *bytes = SECRET_BASE64.into();
        }
    }
    for registration in &mut origin.service_workers {
        (registration.scope, registration.script_url) = (address(), address());
        registration.navigation_preload.header = SECRET.into();
        for script in &mut registration.scripts {
            (script.url, script.source) = (address(), SECRET.into());
        }
    }
}

fn plant_entries(entries: &mut Entries) {
    entries.0.values_mut().for_each(|value| *value = SECRET.into());
}

fn plant_value(value: &mut Value) {
    plant_node(&mut value.root);
    value.heap.iter_mut().for_each(plant_object);
}

fn plant_node(node: &mut Node) {
    match node {
        Node::String(text) => *text = SECRET.into(),
        Node::Number(number) => *number = Number(SECRET_NUMBER),
        Node::BigInt(digits) => *digits = SECRET_DIGITS.into(),
        Node::Undefined | Node::Null | Node::Bool(_) | Node::Ref(_) => {}
    }
}

fn plant_object(object: &mut Object) {
    match object {
        Object::Object { entries } | Object::Array { entries, .. } => {
            for (_, node) in entries {
                plant_node(node);
            }
        }
        Object::Map { entries } => {
            for (key, value) in entries {
                [key, value].into_iter().for_each(plant_node);
            }
        }
        Object::Set { values } => values.iter_mut().for_each(plant_node),
        Object::Date { time } => plant_node(time),
        Object::Boxed { value } => plant_node(value),
        Object::Regexp { source, .. } => *source = SECRET.into(),
        Object::Error { message, stack, cause, .. } => {
            [message, stack, cause].into_iter().for_each(plant_node);
        }
        Object::ArrayBuffer { bytes, .. } | Object::Blob { bytes, .. } => {
            *bytes = SECRET_BASE64.into();
        }
        Object::File { name, bytes, .. } => {
            (*name, *bytes) = (SECRET.into(), SECRET_BASE64.into());
        }
        Object::CryptoKey { jwk, .. } => *jwk = format!("{{\"k\":\"{SECRET}\"}}"),
        Object::View { .. } | Object::Lost { .. } => {}
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn no_planted_secret_comes_out(mut state in arbitrary::state()) {
        plant(&mut state);
        let json = serde_json::to_string(&redact(&state)).unwrap();
        for secret in [SECRET, SECRET_BASE64, SECRET_DIGITS] {
            prop_assert!(!json.contains(secret), "{secret} in {json}");
        }
    }

    #[test]
    fn redacting_twice_changes_nothing(state in arbitrary::state()) {
        let once = redact(&state);
        prop_assert_eq!(redact(&once), once);
    }

    #[test]
    fn names_and_shapes_stay(state in arbitrary::state()) {
        let redacted = redact(&state);
        let keys = |state: &State| -> Vec<Vec<Text>> {
            let origins = state.origins.values();
            origins.map(|origin| origin.local_storage.0.keys().cloned().collect()).collect()
        };
        prop_assert_eq!(keys(&redacted), keys(&state));
        let places = |state: &State| -> Vec<String> {
            state.cookies.iter().map(baton_session::Cookie::place).collect()
        };
        prop_assert_eq!(places(&redacted), places(&state));
        prop_assert_eq!(redacted.tabs.len(), state.tabs.len());
        let open = |state: &State| Environment {
            egress: state.environment.egress.clone().map(|egress| Egress { credentials: None, ..egress }),
            ..state.environment.clone()
        };
        prop_assert_eq!(open(&redacted), open(&state));
    }
}

#[test]
fn a_marker_says_how_much_it_hides() {
    let mut state = State::default();
    let key = baton_session::StorageKey::first_party("https://app.test");
    let entries: Entries =
        [("token", "abc"), ("empty", ""), ("fake", "[redacted: abc characters]")]
            .into_iter()
            .collect();
    state.origins.entry(key.clone()).or_default().local_storage = entries;
    let broken = Text::from_utf16(&[0xd800, 0x61]);
    state.origins.entry(key.clone()).or_default().local_storage.0.insert("utf16".into(), broken);
    let redacted = redact(&state);
    let pairs: Vec<String> = redacted.origins[&key]
        .local_storage
        .0
        .iter()
        .map(|(name, value)| format!("{}={}", name.to_lossy(), value.to_lossy()))
        .collect();
    insta::assert_snapshot!(pairs.join("\n"), @r"
    empty=
    fake=[redacted: 26 characters]
    token=[redacted: 3 characters]
    utf16=[redacted: 2 characters]
    ");
}

#[test]
fn a_url_keeps_its_way_and_loses_its_secrets() {
    let urls = [
        "https://app.test/inbox",
        "https://ada:pw@app.test:8443/in?next=/home&code=1234&flag&empty=#access_token=1",
        "https://app.test?q=a@b#",
        "https://app.test/@ada?",
        "wss://app.test/cdp?ticket=1",
        "about:blank",
        "blob:https://ada:pw@app.test/1-2",
        "data:text/html,<p>secret",
        "javascript:alert(1)",
        "/relative?token=1",
        "",
    ];
    let redacted: Vec<String> = urls.into_iter().map(|url| ShownAddress::of(url).into()).collect();
    insta::assert_snapshot!(redacted.join("\n"), @r"
    https://app.test/inbox
    https://[redacted]@app.test:8443/in?next=[redacted]&code=[redacted]&[redacted]&empty=#[redacted]
    https://app.test?q=[redacted]#
    https://app.test/@ada?
    wss://app.test/cdp?ticket=[redacted]
    about:blank
    blob:https://[redacted]@app.test/1-2
    data:[redacted]
    javascript:[redacted]
    /relative?token=[redacted]
    ");
    for url in redacted {
        assert_eq!(ShownAddress::of(&url).as_str(), url);
    }
}
