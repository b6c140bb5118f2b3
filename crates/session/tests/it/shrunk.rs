//! A state that has lost more than half of what it held is told from one that merely changed.

use crate::arbitrary::state;
use baton_session::cookie::{Expiry, SourceScheme};
use baton_session::state::OriginState;
use baton_session::{Cookie, Entries, Holdings, State, StorageKey};
use baton_testing::cases;
use proptest::prelude::*;
use std::collections::BTreeMap;

const NOW: Expiry = Expiry(1_000_000);

fn cookie(name: &str, expires: Option<Expiry>) -> Cookie {
    let domain = "app.test";
    serde_json::from_value(serde_json::json!({
        "name": name, "value": "1", "domain": domain, "path": "/", "expires": expires,
    }))
    .unwrap()
}

/// Cookies with these names that end with the browser.
fn with_cookies(names: &[&str]) -> State {
    let cookies = names.iter().map(|name| cookie(name, None)).collect();
    State { cookies, ..State::default() }
}

/// These hosts with a note in localStorage each.
fn with_storage(hosts: &[&str]) -> State {
    let local_storage: Entries = [("note", "kept")].into_iter().collect();
    let held = OriginState { local_storage, ..OriginState::default() };
    let origin = |host: &&str| (StorageKey::first_party(&format!("https://{host}")), held.clone());
    State { origins: hosts.iter().map(origin).collect(), ..State::default() }
}

fn shrunk(before: &State, after: &State) -> bool {
    Holdings::of(before).has_shrunk_to(after, NOW)
}

#[test]
fn half_may_go_and_more_may_not() {
    let four = with_cookies(&["a", "b", "c", "d"]);
    assert!(!shrunk(&four, &with_cookies(&["a", "b"])));
    assert!(shrunk(&four, &with_cookies(&["a"])));
    let four = with_storage(&["a.test", "b.test", "c.test", "d.test"]);
    assert!(!shrunk(&four, &with_storage(&["a.test", "b.test"])));
    assert!(shrunk(&four, &with_storage(&["a.test"])));
}

#[test]
fn one_of_one_counts_and_of_nothing_nothing_can_go() {
    assert!(shrunk(&with_cookies(&["sid"]), &State::default()));
    assert!(shrunk(&with_storage(&["a.test"]), &State::default()));
    assert!(!shrunk(&State::default(), &State::default()));
    assert!(!shrunk(&State::default(), &with_cookies(&["sid"])));
}

#[test]
fn the_one_kind_does_not_make_good_what_the_other_lost() {
    let both = State { cookies: with_cookies(&["sid"]).cookies, ..with_storage(&["a.test"]) };
    assert!(shrunk(&both, &with_storage(&["a.test", "b.test"])));
    assert!(shrunk(&both, &with_cookies(&["sid", "new"])));
}

#[test]
fn another_login_in_the_place_of_the_first_is_no_loss() {
    let before = with_cookies(&["sid"]);
    let mut after = before.clone();
    after.cookies[0].value = "another".to_owned();
    assert!(!shrunk(&before, &after));
    after.cookies[0].path = "/elsewhere".to_owned();
    assert!(shrunk(&before, &after), "another path makes it another cookie");
}

/// What a site calls the same cookie.
fn identity(cookie: &Cookie) -> (&str, &str, &str, Option<String>) {
    let partition = cookie.partition_key.as_ref().map(|key| format!("{key:?}"));
    (&cookie.domain, &cookie.path, &cookie.name, partition)
}

#[test]
fn a_port_that_becomes_known_makes_no_other_cookie() {
    let before = with_cookies(&["sid"]);
    let mut after = before.clone();
    after.cookies[0].source_port = Some(8443);
    after.cookies[0].source_scheme = SourceScheme::Secure;
    assert!(!shrunk(&before, &after));
}

#[test]
fn what_merely_expired_is_not_missed() {
    let mut before = with_cookies(&["sid"]);
    before.cookies.push(cookie("short", Some(Expiry(NOW.0))));
    before.cookies.push(cookie("shorter", Some(Expiry(NOW.0 - 1))));
    assert!(!shrunk(&before, &with_cookies(&["sid"])));
    before.cookies.push(cookie("long", Some(Expiry(NOW.0 + 1))));
    before.cookies.push(cookie("longer", Some(Expiry(NOW.0 + 2))));
    assert!(shrunk(&before, &with_cookies(&["sid"])));
    // A page that ends its cookies by giving them an end in the past has removed them.
    let mut ended = before.clone();
    ended.cookies.iter_mut().for_each(|cookie| cookie.expires = Some(Expiry(1)));
    assert!(shrunk(&before, &ended));
}

#[test]
fn a_storage_key_that_holds_nothing_any_more_is_gone() {
    let mut emptied = with_storage(&["a.test"]);
    emptied.origins.values_mut().for_each(|origin| origin.local_storage = Entries::default());
    assert!(shrunk(&with_storage(&["a.test"]), &emptied));
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn the_decision_is_that_of_counting(before in state(), after in state(), now in 0..4_000_000_000_000_000i64) {
        let now = Expiry(now);
        let lives = |cookie: &&Cookie| cookie.expires.is_none_or(|end| end > now);
        // The last of those that only differ in the port from which they came.
        let held: BTreeMap<_, _> =
            before.cookies.iter().map(|cookie| (identity(cookie), cookie)).collect();
        let unexpired: Vec<&Cookie> = held.into_values().filter(lives).collect();
        let there = |cookie: &&&Cookie| {
            after.cookies.iter().filter(lives).any(|other| identity(other) == identity(cookie))
        };
        let cookies_left = unexpired.iter().filter(there).count();
        let full = |state: &State| -> Vec<StorageKey> {
            let full = state.origins.iter().filter(|(_, origin)| !origin.is_empty());
            full.map(|(key, _)| key.clone()).collect()
        };
        let (keys, keys_after) = (full(&before), full(&after));
        let keys_left = keys.iter().filter(|key| keys_after.contains(key)).count();
        let expected = cookies_left * 2 < unexpired.len() || keys_left * 2 < keys.len();
        prop_assert_eq!(Holdings::of(&before).has_shrunk_to(&after, now), expected);
    }

    #[test]
    fn a_state_that_only_grows_has_never_shrunk(before in state(), more in state()) {
        let mut after = before.clone();
        for cookie in more.cookies {
            if before.cookies.iter().all(|known| known.key() != cookie.key()) {
                after.cookies.push(cookie);
            }
        }
        for (key, origin) in more.origins {
            after.origins.entry(key).or_insert(origin);
        }
        prop_assert!(!Holdings::of(&before).has_shrunk_to(&after, NOW));
    }
}
