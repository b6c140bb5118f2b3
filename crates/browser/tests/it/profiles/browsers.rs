//! Chromium on a profile that was compiled: pages and servers see all of it.

use super::arbitrary::{cookie, entries, hosts};
use super::{losses, now, read_plain};
use crate::fixture::evaluate;
use crate::site::{Page, Site};
use crate::story::{Running, key_of, profile};
use baton_browser::profile::compile;
use baton_browser::profile::compile::Times;
use baton_session::{Cookie, Entries, State, Text};
use proptest::prelude::Strategy;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::collections::BTreeMap;

/// Values of a strategy, the same ones in every run.
fn some<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>, count: usize) -> Vec<T> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
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
