//! Permissions: what a browser can be given, and what is left out.

use baton_session::cookie::Expiry;
use baton_session::permission::{MAX_PERMISSIONS, NAMES, Setting, bound, chromium_name, origin_of};
use baton_session::receipt::ItemKind;
use baton_session::{Permission, State, admit};
use std::collections::BTreeSet;

fn permission(name: &str, origin: &str) -> Permission {
    let (name, origin) = (name.to_owned(), origin.to_owned());
    Permission { name, origin, setting: Setting::Allow, changed: None }
}

#[test]
fn each_name_stands_once() {
    let names: BTreeSet<_> = NAMES.iter().map(|(name, _)| name).collect();
    let chromium: BTreeSet<_> = NAMES.iter().map(|(_, chromium)| chromium).collect();
    assert_eq!((names.len(), chromium.len()), (NAMES.len(), NAMES.len()));
    assert!(NAMES.is_sorted());
    assert_eq!(chromium_name("camera"), Some("media_stream_camera"));
    assert_eq!(chromium_name("cookies"), None);
}

#[test]
fn a_permission_has_a_known_name_and_an_origin_of_the_web() {
    for good in ["https://app.test", "http://localhost:8080", "https://[::1]:8443"] {
        assert_eq!(permission("camera", good).validate(), Ok(()), "{good}");
    }
    let long = format!("https://{}.test", "a".repeat(400));
    for bad in [
        "",
        "app.test",
        "*",
        "https://*",
        "https://[*.]app.test",
        "https://*.app.test",
        "https://a,b",
        "https://app.test/",
        "https://app.test:443",
        "file:///etc",
        "chrome://settings",
        "https://APP.test",
        "https://a@app.test",
        &long,
    ] {
        assert!(permission("camera", bad).validate().is_err(), "{bad}");
    }
    permission("cookies", "https://app.test").validate().unwrap_err();
    assert_eq!(origin_of("https://app.test:443/a?b#c").as_deref(), Some("https://app.test"));
    let deep = format!("https://app.test/{}", "a".repeat(4000));
    assert_eq!(origin_of(&deep).as_deref(), Some("https://app.test"));
    for none in ["about:blank", "data:,http://app.test", "httpx://app.test", "ht", "", &long] {
        assert_eq!(origin_of(none), None);
    }
}

#[test]
fn only_permissions_that_a_browser_can_be_given_are_admitted() {
    let mut state = State::default();
    state.environment.permissions = vec![
        permission("camera", "https://app.test"),
        permission("camera", "chrome://settings"),
        permission("everything", "https://app.test"),
        Permission {
            setting: Setting::Deny,
            changed: Some(5),
            ..permission("camera", "https://app.test")
        },
    ];
    let left_out = admit::admit(&mut state, Expiry(4));
    let [only] = &state.environment.permissions[..] else { panic!("{state:?}") };
    assert_eq!((only.name.as_str(), only.setting), ("camera", Setting::Deny), "the later one");
    assert_eq!(only.changed, None, "it would have been decided in the future");
    let lines: Vec<_> =
        left_out.items.iter().map(|item| (item.kind, item.place.as_str())).collect();
    let kind = ItemKind::Permission;
    assert_eq!(lines, [(kind, "camera chrome://settings"), (kind, "everything https://app.test")]);
}

#[test]
fn a_state_holds_so_many_permissions_and_no_more() {
    let mut state = State::default();
    let many =
        (0..MAX_PERMISSIONS + 2).map(|at| permission("camera", &format!("https://{at}.test")));
    state.environment.permissions = many.collect();
    let left_out = admit::admit(&mut state, Expiry(0));
    assert_eq!(state.environment.permissions.len(), MAX_PERMISSIONS);
    assert_eq!(left_out.rejected, 2);
}

#[test]
fn of_too_many_the_newest_stay() {
    let of = |at: i64| Permission {
        changed: (at > 0).then_some(at),
        ..permission("camera", &format!("https://a{at}.test"))
    };
    let mut all: Vec<_> = (0..=i64::try_from(MAX_PERMISSIONS).unwrap()).map(of).collect();
    assert_eq!(bound(&mut all), 1);
    assert!(all.contains(&of(0)), "a page told of it just now");
    assert!(!all.contains(&of(1)), "the oldest");
    assert_eq!(bound(&mut all), 0);
}
