//! Three-way merges: a login comes from one side as a whole, and nothing that was removed comes back.

use crate::arbitrary::state;
use baton_session::permission::Setting;
use baton_session::revision::{MergedFrom, merge};
use baton_session::{Cookie, Entries, Permission, Site, State, StorageKey, Tab};
use baton_testing::cases;
use proptest::collection::btree_set;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeSet;

/// The sites of which arbitrary states hold something.
const SITES: [&str; 6] = ["app.test", "app.co.uk", "localhost", "127.0.0.1", "[::1]", "cdn.test"];

/// What a state holds of a site, tabs aside; and the cookies and storage of it as one text.
fn held(state: &State, site: &str) -> String {
    let is_of = |host: Site| host.as_str() == site;
    let mut only = state.clone();
    only.normalize();
    only.cookies.retain(|cookie| is_of(cookie.site()));
    only.origins.retain(|key, _| is_of(key.site()));
    let permissions = &mut only.environment.permissions;
    permissions.retain(|permission| is_of(Site::of_origin(&permission.origin)));
    serde_json::to_string(&(only.cookies, only.origins, &only.environment.permissions)).unwrap()
}

/// The sessionStorage of a site in all tabs, without empty ones.
fn session_of(state: &State, site: &str) -> Vec<(StorageKey, Entries)> {
    let all = state.tabs.iter().flat_map(|tab| tab.session_storage.clone());
    all.filter(|(key, entries)| key.site().as_str() == site && !entries.is_empty()).collect()
}

/// `base`, in which some sites are as in `other`.
fn change(base: &State, other: &State, sites: &BTreeSet<&str>) -> State {
    let is_in = |site: Site| sites.contains(site.as_str());
    let mut changed = base.clone();
    changed.cookies.retain(|cookie| !is_in(cookie.site()));
    changed.cookies.extend(other.cookies.iter().filter(|one| is_in(one.site())).cloned());
    changed.origins.retain(|key, _| !is_in(key.site()));
    let theirs = other.origins.iter().filter(|(key, _)| is_in(key.site()));
    changed.origins.extend(theirs.map(|(key, origin)| (key.clone(), origin.clone())));
    changed.normalize();
    changed
}

fn sites() -> impl Strategy<Value = BTreeSet<&'static str>> {
    btree_set(select(&SITES[..]), 0..4)
}

fn normal(mut state: State) -> State {
    state.normalize();
    state
}

proptest! {
    #![proptest_config(cases(120))]

    #[test]
    fn a_side_that_did_nothing_changes_nothing(base in state(), other in state()) {
        for loser in [&base, &other] {
            let merged = merge(&base, &other, loser);
            prop_assert_eq!(&merged.state, &normal(other.clone()));
            prop_assert!(!merged.lost);
        }
        let taken = merge(&base, &base, &other);
        for site in SITES {
            prop_assert_eq!(held(&taken.state, site), held(&other, site));
            prop_assert!(taken.lost || session_of(&taken.state, site) == session_of(&other, site));
        }
    }

    #[test]
    fn each_site_is_that_of_one_side(base in state(), one in state(), other in state()) {
        let merged = merge(&base, &one, &other);
        for site in SITES {
            let [here, won, beaten, old] =
                [&merged.state, &one, &other, &base].map(|state| held(state, site));
            let side = merged.sites.iter().find(|(name, _)| name.as_str() == site);
            let from_loser = matches!(side, Some((_, MergedFrom::Loser)));
            prop_assert_eq!(&here, if from_loser { &beaten } else { &won });
            prop_assert!(won == beaten || side.is_some());
            prop_assert!(merged.lost || here == beaten || beaten == old);
            // What a tab holds of the site is of the same side, as far as there is a tab for it.
            let session = session_of(&merged.state, site);
            let theirs = session_of(if from_loser { &other } else { &one }, site);
            prop_assert!(session.iter().all(|entry| theirs.contains(entry)));
            let is_whole = theirs.iter().all(|entry| session.contains(entry));
            prop_assert!(is_whole || from_loser && merged.lost, "something is lost without a word");
        }
    }

    #[test]
    fn who_wins_counts_only_where_both_changed_something(
        base in state(), new in state(), mine in sites(), theirs in sites()
    ) {
        let [one, other] = [&mine, &theirs].map(|sites| change(&base, &new, sites));
        let merged = merge(&base, &one, &other);
        prop_assert_eq!(&merged.state, &merge(&base, &other, &one).state);
        prop_assert!(!merged.lost, "both made the same of the sites that both changed");
        let all = mine.union(&theirs).copied().collect();
        prop_assert_eq!(merged.state, change(&base, &new, &all));
    }
}

fn cookie(domain: &str, name: &str, value: &str) -> Cookie {
    serde_json::from_value(serde_json::json!({
        "name": name, "value": value, "domain": domain, "path": "/",
    }))
    .unwrap()
}

fn with(cookies: &[(&str, &str, &str)]) -> State {
    let cookies = cookies.iter().map(|(domain, name, value)| cookie(domain, name, value));
    State { cookies: cookies.collect(), ..State::default() }
}

#[test]
fn a_logout_is_not_undone_by_the_other_side() {
    let base = with(&[("a.test", "sid", "1"), ("b.test", "sid", "1")]);
    let logged_out = with(&[("b.test", "sid", "1")]);
    let elsewhere = with(&[("a.test", "sid", "1"), ("b.test", "sid", "2")]);
    for (winner, loser) in [(&logged_out, &elsewhere), (&elsewhere, &logged_out)] {
        let merged = merge(&base, winner, loser);
        assert_eq!((merged.state, merged.lost), (with(&[("b.test", "sid", "2")]), false));
    }
}

#[test]
fn a_token_never_meets_the_cookie_of_another_login() {
    let login = |value: &str| {
        let mut state = with(&[(".a.test", "sid", value)]);
        let frame = StorageKey::new("https://login.a.test/^0https://b.test");
        state.origins.entry(frame).or_default().local_storage =
            [("token", value)].into_iter().collect();
        let (name, origin) = ("camera".to_owned(), "https://a.test".to_owned());
        let setting = Setting::Allow;
        let changed = Some(i64::try_from(value.len()).unwrap());
        state.environment.permissions = vec![Permission { name, origin, setting, changed }];
        state
    };
    let merged = merge(&login("old"), &login("newer"), &login("newest"));
    assert_eq!((merged.state, merged.lost), (login("newer"), true));
    assert_eq!(merged.sites, [(Site::of_host("a.test"), MergedFrom::Contested)]);
}

fn tab(url: &str, token: &str) -> Tab {
    let key = StorageKey::first_party("https://a.test");
    let session_storage = [(key, [("token", token)].into_iter().collect())].into();
    Tab { url: url.to_owned(), session_storage, ..Tab::default() }
}

fn at(tabs: Vec<Tab>) -> State {
    State { tabs, ..State::default() }
}

#[test]
fn the_tabs_are_those_of_one_side_with_the_tokens_of_both() {
    let base = at(vec![tab("https://a.test/", "old")]);
    let rotated = at(vec![tab("https://a.test/", "new")]);
    let opened = at(vec![
        Tab { url: "https://c.test/".to_owned(), ..Tab::default() },
        tab("https://a.test/", "old"),
    ]);
    let both = at(vec![
        Tab { url: "https://c.test/".to_owned(), ..Tab::default() },
        tab("https://a.test/", "new"),
    ]);
    for (winner, loser) in [(&rotated, &opened), (&opened, &rotated)] {
        let merged = merge(&base, winner, loser);
        assert_eq!((merged.state, merged.lost), (both.clone(), false));
    }
}

#[test]
fn a_token_without_a_tab_is_lost_with_a_word_and_never_the_winners() {
    let base = at(vec![tab("https://a.test/", "old")]);
    let rotated = at(vec![tab("https://a.test/", "new")]);
    let moved = at(vec![tab("https://a.test/elsewhere", "old")]);
    let merged = merge(&base, &rotated, &moved);
    assert_eq!((merged.state, merged.lost), (rotated.clone(), true));
    let merged = merge(&base, &moved, &rotated);
    assert!(merged.lost);
    assert_eq!(merged.state.tabs[0].url, "https://a.test/elsewhere");
    assert!(merged.state.tabs[0].session_storage.is_empty(), "a token of neither login");
}

#[test]
fn an_environment_is_one_sides() {
    let speaking = |locale: &str| {
        let mut state = State::default();
        state.environment.locale = Some(locale.to_owned());
        state
    };
    let [old, one, other] = ["de-DE", "ja-JP", "fr-FR"].map(speaking);
    let merged = merge(&old, &old, &other);
    assert_eq!((merged.state, merged.lost), (other.clone(), false));
    let merged = merge(&old, &one, &other);
    assert_eq!((merged.state, merged.lost), (one, true));
}
