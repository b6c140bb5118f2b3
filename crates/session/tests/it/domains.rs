//! A part of a state: a domain and what is below it, and never a domain that only ends alike.

use crate::arbitrary::state;
use baton_session::cookie::PartitionKey;
use baton_session::permission::Setting;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::view::{self, Domain};
use baton_session::{Entries, Permission, Receipt, State, StorageKey, Tab};
use baton_testing::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

fn domain(text: &str) -> Domain {
    text.parse().unwrap()
}

#[test]
fn a_domain_has_itself_and_what_is_below_it() {
    let example = domain("example.com");
    for host in
        ["example.com", ".example.com", "www.example.com", "a.b.EXAMPLE.com", "example.com."]
    {
        assert!(example.has(host), "{host}");
    }
    for host in ["", "com", "notexample.com", "example.com.evil.test", "example.co", "ample.com"] {
        assert!(!example.has(host), "{host}");
    }
    assert!(domain("127.0.0.1").has("127.0.0.1") && !domain("127.0.0.1").has("1.127.0.0.1"));
    assert!(domain("[::1]").has("[::1]") && domain("localhost").has("localhost"));
}

#[test]
fn a_domain_is_written_in_many_ways() {
    for text in ["bücher.test", "*.bücher.test", ".BÜCHER.test", "xn--bcher-kva.test."] {
        assert_eq!(domain(text).to_string(), "xn--bcher-kva.test", "{text}");
    }
    let bad = ["", ".", "*", "*.", "a..b", "https://a.test", "a.test/x", "a.test:80", "a b", "..a"];
    for text in bad {
        assert!(text.parse::<Domain>().is_err(), "{text:?}");
    }
}

fn permission(origin: &str) -> Permission {
    let (name, origin) = ("camera".to_owned(), origin.to_owned());
    Permission { name, origin, setting: Setting::Allow, changed: None }
}

/// A state with one of everything on each of some hosts.
fn spread(hosts: &[String]) -> State {
    let mut state = State::default();
    for host in hosts {
        let cookie =
            format!(r#"{{"name":"sid","value":"1","domain":".{host}","path":"/","secure":true}}"#);
        let mut cookie: baton_session::Cookie = serde_json::from_str(&cookie).unwrap();
        let top_level_site = "https://around.test".to_owned();
        cookie.partition_key = Some(PartitionKey { top_level_site, has_cross_site_ancestor: true });
        state.cookies.push(cookie);
        let origin = format!("https://{host}");
        let key = StorageKey::new(format!("{origin}/^0https://around.test"));
        let entries = Entries::from_iter([("a", "b")]);
        state.origins.entry(key.clone()).or_default().local_storage = entries.clone();
        let mut tab = Tab { url: format!("{origin}:8443/x"), ..Tab::default() };
        tab.session_storage.insert(key, entries.clone());
        tab.session_storage.insert(StorageKey::first_party("https://other.test"), entries);
        state.tabs.push(tab);
        state.environment.permissions.push(permission(&origin));
    }
    state
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn what_stays_is_of_the_domains_and_what_goes_is_not(
        hosts in vec("(www\\.|not|a\\.b\\.)?(example|around)\\.(com|test)", 0..8),
        wanted in vec(select(vec!["example.com", "around.test", "www.example.com"]), 0..3),
    ) {
        let wanted: Vec<Domain> = wanted.into_iter().map(domain).collect();
        let stays = |host: &&String| {
            wanted.iter().map(ToString::to_string).any(|domain| {
                **host == domain || host.ends_with(&format!(".{domain}"))
            })
        };
        let staying: Vec<String> = hosts.iter().filter(stays).cloned().collect();
        let mut kept = spread(&hosts);
        view::keep(&mut kept, &wanted);
        let mut expected = spread(&staying);
        for tab in &mut expected.tabs {
            tab.session_storage.retain(|key, _| key.origin() != "https://other.test");
        }
        prop_assert_eq!(kept, expected);
    }

    #[test]
    fn to_keep_twice_is_to_keep_once(mut state in state()) {
        let wanted = [domain("app.test"), domain("127.0.0.1")];
        view::keep(&mut state, &wanted);
        let once = state.clone();
        view::keep(&mut state, &wanted);
        prop_assert_eq!(&state, &once);
        view::keep(&mut state, &[]);
        prop_assert!(state.cookies.is_empty() && state.origins.is_empty() && state.tabs.is_empty());
    }
}

#[test]
fn lines_about_others_go_and_lines_about_nobody_stay() {
    let mut receipt = Receipt::default();
    for (kind, place) in [
        (ItemKind::Cookie, ".example.com/ sid"),
        (ItemKind::Cookie, "notexample.com/ sid"),
        (ItemKind::Cookie, "all cookies"),
        (ItemKind::LocalStorage, "https://other.test/^0https://example.com"),
        (ItemKind::IndexedDb, "https://www.example.com/ app"),
        (ItemKind::IndexedDb, "https://www.other.test/ app"),
        (ItemKind::Permission, "camera https://other.test"),
        (ItemKind::Tab, "all tabs"),
    ] {
        receipt.push(ReceiptItem::rejected(kind, place, "no"));
    }
    let left = view::concerning(receipt, &[domain("example.com")]);
    let places: Vec<&str> = left.items.iter().map(|item| item.place.as_str()).collect();
    let expected = [".example.com/ sid", "all cookies", "https://www.example.com/ app", "all tabs"];
    assert_eq!((places, left.rejected), (expected.to_vec(), 4));
}
