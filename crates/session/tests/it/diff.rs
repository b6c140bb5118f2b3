//! What changed is told item by item, and no value is told with it.

use crate::arbitrary::state;
use baton_session::diff::{Diff, NAME_LENGTH_MAX, NAMES_MAX, SiteDiff, diff};
use baton_session::permission::Setting;
use baton_session::state::OriginState;
use baton_session::value::Node;
use baton_session::{Cookie, Database, Entries, Permission, State, StorageKey, Tab, Value};
use baton_testing::cases;
use proptest::prelude::*;
use std::fmt::Write;

const SECRET: &str = "hunter2";

fn cookie(name: &str, value: &str) -> Cookie {
    serde_json::from_value(serde_json::json!({
        "name": name, "value": value, "domain": ".app.test", "path": "/",
    }))
    .unwrap()
}

fn notes(records: usize) -> Database {
    let value = serde_json::to_value(Value::primitive(Node::String(SECRET.into()))).unwrap();
    let record = serde_json::json!({ "key": value, "value": value });
    serde_json::from_value(serde_json::json!({
        "name": "notes", "version": 1, "stores": [{
            "name": "all", "keyPath": null, "autoIncrement": false, "indexes": [],
            "records": vec![record; records],
        }],
    }))
    .unwrap()
}

fn tab(url: &str, entries: &[(&str, &str)]) -> Tab {
    let key = StorageKey::first_party("https://app.test");
    let session_storage = [(key, entries.iter().copied().collect())].into();
    Tab { url: url.to_owned(), session_storage, ..Tab::default() }
}

fn origin(entries: &[(&str, &str)], databases: Vec<Database>) -> (StorageKey, OriginState) {
    let local_storage: Entries = entries.iter().copied().collect();
    let origin = OriginState { local_storage, databases, ..OriginState::default() };
    (StorageKey::first_party("https://app.test"), origin)
}

/// A cache, a file and a service worker of the site.
fn stored(state: &mut State, bytes: &str, script: &str) {
    let origin = state.origins.values_mut().next().unwrap();
    let json = serde_json::json!({
        "caches": [{ "name": "shell", "entries": [{ "url": "https://app.test/", "response": {
            "type": "whole", "status": 200, "statusText": "", "headers": [], "body": bytes,
        } }] }],
        "files": [{ "path": ["notes", "a.txt"], "type": "file", "bytes": bytes }],
        "serviceWorkers": [{
            "scope": "https://app.test/", "scriptUrl": script, "updateViaCache": "imports",
            "navigationPreload": { "enabled": false, "header": "true" },
        }],
    });
    let stored: OriginState = serde_json::from_value(json).unwrap();
    let (local_storage, databases) = (origin.local_storage.clone(), origin.databases.clone());
    *origin = OriginState { local_storage, databases, ..stored };
}

fn lines(diff: &Diff) -> String {
    let mut text =
        format!("{} added, {} removed, {} changed", diff.added, diff.removed, diff.changed);
    for item in &diff.items {
        let entry = item.entry.as_deref().unwrap_or_default();
        write!(text, "\n{} {} {entry} {} {:?}", item.kind, item.place, item.change, item.fields)
            .unwrap();
        if let Some(records) = item.records {
            write!(text, " {} -> {}", records.before, records.after).unwrap();
        }
    }
    text
}

fn permission(name: &str, setting: Setting, changed: Option<i64>) -> Permission {
    let (name, origin) = (name.to_owned(), "https://app.test".to_owned());
    Permission { name, origin, setting, changed }
}

/// Everything that can change, has; all values are secrets.
fn before_and_after() -> (State, State) {
    let mut before = State {
        cookies: vec![cookie("gone", SECRET), cookie("sid", "old"), cookie("same", SECRET)],
        origins: [origin(&[("theme", SECRET), ("token", SECRET), ("same", "1")], vec![notes(3)])]
            .into(),
        tabs: vec![tab("https://app.test/?token=hunter2", &[("step", SECRET)])],
        ..State::default()
    };
    stored(&mut before, "b2xk", "https://app.test/sw.js");
    before.environment.locale = Some("de-DE".to_owned());
    let mut after = State {
        cookies: vec![cookie("new", SECRET), cookie("sid", SECRET), cookie("same", SECRET)],
        origins: [origin(&[("theme", "dark"), ("new", SECRET), ("same", "1")], vec![notes(1)])]
            .into(),
        tabs: vec![
            tab("https://app.test/#hunter2", &[]),
            tab("https://app.test/?token=hunter2", &[("step", "2")]),
        ],
        ..State::default()
    };
    stored(&mut after, "aHVudGVyMg==", "https://app.test/sw.js?hunter2");
    after.environment.locale = Some("ja-JP".to_owned());
    after.environment.timezone = Some("Asia/Tokyo".to_owned());
    before.environment.permissions = vec![
        permission("camera", Setting::Allow, Some(1)),
        permission("midi", Setting::Allow, Some(1)),
    ];
    after.environment.permissions = vec![
        permission("camera", Setting::Deny, Some(2)),
        permission("midi", Setting::Allow, Some(2)),
    ];
    (before, after)
}

fn by_site(diff: &Diff) -> String {
    let line = |one: &SiteDiff| {
        let site = one.site.as_ref().map_or("-", |site| site.as_str());
        let SiteDiff { kind, added, removed, changed, names, .. } = one;
        format!("{site} {kind} +{added} -{removed} ~{changed} {}", names.join(", "))
    };
    diff.by_site().iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_changed_is_counted_by_site_and_kind_and_no_value_is_told() {
    let (before, mut after) = before_and_after();
    let frame = StorageKey::first_party("https://www.shop.co.uk");
    let entries = (0..30).map(|nth| (format!("{nth:02}{}", "x".repeat(200)), SECRET.to_owned()));
    let local_storage: Entries = entries.collect();
    after.origins.insert(frame, OriginState { local_storage, ..OriginState::default() });
    let mut diff = diff(&before, &after);
    assert!(!serde_json::to_string(&diff.by_site()).unwrap().contains(SECRET));
    let long = diff.by_site().pop().unwrap();
    assert_eq!((long.added, long.names.len()), (30, NAMES_MAX));
    assert!(long.names.iter().all(|name| name.chars().count() == NAME_LENGTH_MAX + 1));
    diff.items.retain(|item| !item.place.contains("shop.co.uk"));
    insta::assert_snapshot!(by_site(&diff), @r"
    - environment +1 -0 ~1 locale, timezone
    app.test cookie +1 -1 ~1 gone, new, sid
    app.test local_storage +1 -1 ~1 new, theme, token
    app.test session_storage +0 -0 ~1 step
    app.test indexed_db +0 -0 ~1 notes
    app.test cache +0 -0 ~1 shell
    app.test files +0 -0 ~1 notes/a.txt
    app.test service_worker +0 -0 ~1 https://app.test/
    app.test tab +1 -0 ~0 https://app.test/#[redacted]
    app.test permission +0 -0 ~1 camera
    ");
}

#[test]
fn each_item_that_changed_has_a_line_and_no_line_has_a_value() {
    let (before, after) = before_and_after();
    let diff = diff(&before, &after);
    insta::assert_snapshot!(lines(&diff), @r#"
    4 added, 2 removed, 9 changed
    cookie .app.test/ gone  removed []
    cookie .app.test/ new  added []
    cookie .app.test/ sid  changed ["value"]
    local_storage https://app.test/ new added []
    local_storage https://app.test/ theme changed []
    local_storage https://app.test/ token removed []
    session_storage https://app.test/ step changed []
    indexed_db https://app.test/ notes  changed [] 3 -> 1
    cache https://app.test/ shell  changed [] 1 -> 1
    files https://app.test/ notes/a.txt changed []
    service_worker https://app.test/ https://app.test/  changed ["script"]
    tab https://app.test/#[redacted]  added []
    environment locale  changed []
    environment timezone  added []
    permission camera https://app.test  changed []
    "#);
    let json = serde_json::to_string(&diff).unwrap();
    assert!(!json.contains(SECRET) && !json.contains("dark") && !json.contains("Tokyo"), "{json}");
    assert_eq!(serde_json::from_str::<Diff>(&json).unwrap(), diff);
}

#[test]
fn a_tab_that_went_elsewhere_is_the_same_tab_while_its_browser_lives() {
    let at = |id: &str, url: &str| Tab { id: id.to_owned(), url: url.to_owned(), ..Tab::default() };
    let state = |tabs: Vec<Tab>| State { tabs, ..State::default() };
    let before = state(vec![at("A", "https://a.test/"), at("B", "https://b.test/")]);
    let after = state(vec![at("B", "https://b.test/2"), at("C", "https://a.test/")]);
    insta::assert_snapshot!(lines(&diff(&before, &after)), @r#"
    0 added, 0 removed, 1 changed
    tab https://b.test/2  changed ["address"]
    "#);
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn what_is_the_same_has_no_line(state in state()) {
        prop_assert_eq!(diff(&state, &state), Diff::default());
    }

    #[test]
    fn the_way_back_removes_what_the_way_there_added(a in state(), b in state()) {
        let (there, back) = (diff(&a, &b), diff(&b, &a));
        prop_assert_eq!((there.added, there.removed), (back.removed, back.added));
        prop_assert_eq!(there.items.len(), there.added + there.removed + there.changed);
    }
}
