//! Chromium on a profile that was compiled: pages and servers see all of it.

use super::arbitrary::{cookie, entries, hosts};
use super::place::cookie as cookie_of;
use super::{losses, now, read_plain};
use crate::fixture::{evaluate, eventually};
use crate::site::{Page, Site};
use crate::story::{Running, key_of, profile};
use baton_browser::profile::compile;
use baton_browser::profile::compile::Times;
use baton_session::cookie::{Expiry, SourceScheme};
use baton_session::{Cookie, Entries, State, StorageKey, Text};
use baton_testing::cases;
use proptest::prelude::Strategy;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;

/// Values of a strategy.
fn some<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>, count: usize) -> Vec<T> {
    let mut runner = TestRunner::new(cases(1));
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

/// What the page at an address has in its localStorage, as UTF-16.
const ENTRIES: &str = "Object.keys(localStorage).map(key => [key, localStorage[key]]
    .map(text => Array.from({length: text.length}, (_, at) => text.charCodeAt(at))))";

fn seen(entries: &serde_json::Value) -> Entries {
    let text = |units: &serde_json::Value| {
        let units = units.as_array().unwrap().iter();
        let units: Vec<u16> =
            units.map(|unit| u16::try_from(unit.as_u64().unwrap()).unwrap()).collect();
        Text::from_utf16(&units)
    };
    entries.as_array().unwrap().iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_compiled_is_what_the_browser_has() {
    let (_folder, profile) = profile();
    let site = Site::builder().page("/", Page::html("")).start().await;
    let mut state = State { cookies: some(cookie(hosts()), 1200), ..State::default() };
    let areas = some(entries(), 8);
    for (number, entries) in areas.iter().enumerate() {
        let key = key_of(&site.url(&format!("h{number}"), "/"));
        state.origins.entry(key).or_default().local_storage = entries.clone();
    }
    let receipt = compile(&state, &profile, Times::at(now())).unwrap();
    let compiled = read_plain(&profile).state;
    assert!(compiled.cookies.len() > 200, "{}", compiled.cookies.len());
    assert_eq!(compiled.cookies.len() + losses(&receipt).len(), 1200);

    let running = Running::start(&profile).await;
    for (number, wanted) in areas.iter().enumerate() {
        let page = running.open(&site.url(&format!("h{number}"), "/")).await;
        assert_eq!(&seen(&evaluate(&page, ENTRIES).await), wanted);
    }
    let captured = running.capture().await;
    expect_same(&compiled.cookies, &captured.cookies);
    running.kept.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_and_a_third_party_see_what_was_compiled() {
    let (_folder, profile) = profile();
    let frame = "<iframe src='http://b.localhost:{port}/third'></iframe>";
    let site =
        Site::builder().page("/", Page::html(frame)).page("/third", Page::html("")).start().await;
    let mut state = State::default();
    for (number, value) in some("[!-:<-~]{0,30}", 40).into_iter().enumerate() {
        let expires = (number % 2 == 0).then_some(Expiry(now().0 + 1_000_000_000));
        let place = ("a.localhost".to_owned(), SourceScheme::NonSecure, Some(80));
        let (domain, source_scheme, source_port) = place;
        let name = format!("n{number}");
        let plain = cookie_of(&name, &value);
        let secure = false;
        let cookie = Cookie { domain, secure, source_scheme, source_port, expires, ..plain };
        state.cookies.push(cookie);
    }
    let (top, third) = (site.url("a", "/"), site.url("b", "/"));
    let partition = StorageKey::new(format!("{third}^0http://a.localhost"));
    for key in [key_of(&third), partition.clone()] {
        let origin = state.origins.entry(key.clone()).or_default();
        origin.local_storage = [("at", key.as_str())].into_iter().collect();
    }
    let receipt = compile(&state, &profile, Times::at(now())).unwrap();
    assert_eq!(losses(&receipt), Vec::<String>::new());

    let running = Running::start(&profile).await;
    running.open(&top).await;
    let wanted: Vec<_> =
        state.cookies.iter().map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
    assert_eq!(site.cookies_at("/"), wanted);
    let seen = async || running.capture().await.origins.contains_key(&partition);
    eventually("the third party is there", seen).await;
    let captured = running.capture().await;
    let entries = &captured.origins[&partition].local_storage;
    assert_eq!(entries, &state.origins[&partition].local_storage);
    assert_eq!(captured.cookies.iter().filter(|cookie| cookie.expires.is_none()).count(), 20);
    expect_same(&state.cookies, &captured.cookies);
    running.kept.close().await;
}

/// Cookies of two sides, with a word about each that differs.
fn expect_same(wanted: &[Cookie], found: &[Cookie]) {
    let by_key = |all: &[Cookie]| -> BTreeMap<String, Cookie> {
        let key = |c: &Cookie| format!("{} {:?}", c.place(), c.partition_key);
        all.iter().map(|cookie| (key(cookie), cookie.clone())).collect()
    };
    let (wanted, found) = (by_key(wanted), by_key(found));
    let mut differing = Vec::new();
    for (key, wanted) in &wanted {
        match found.get(key) {
            Some(found) if found == wanted => {}
            Some(found) => differing.push(format!("{wanted:?}\n   became {found:?}")),
            None => differing.push(format!("{wanted:?}\n   is gone")),
        }
    }
    let new = found.keys().filter(|key| !wanted.contains_key(*key));
    differing.extend(new.map(|key| format!("{key} is new")));
    assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
}
