//! What is compiled is read back; what is not, has a line.

use super::arbitrary::state;
use super::{NOW, losses, read_plain, rows_of, times};
use baton_browser::profile::compile;
use baton_session::cookie::{Expiry, PartitionKey, SourceScheme};
use baton_session::permission::Setting;
use baton_session::{Cookie, Database, Permission, State, StorageKey, Tab};
use baton_testing::cases;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn read_after_compile_is_the_identity(wanted in state()) {
        let folder = tempfile::tempdir().unwrap();
        let profile = folder.path().join("profile");
        let receipt = compile(&wanted, &profile, times()).unwrap();
        let items: usize = wanted.origins.values().filter(|o| !o.local_storage.is_empty()).count();
        prop_assert_eq!(receipt.items.len(), wanted.cookies.len() + items, "a line for each item");

        let read = read_plain(&profile);
        prop_assert_eq!(losses(&read.left_out), Vec::<String>::new());
        // Compiled again, it is the same; and all that was taken is as it was.
        let again = folder.path().join("again");
        let twice = compile(&read.state, &again, times()).unwrap();
        prop_assert_eq!(losses(&twice), Vec::<String>::new());
        prop_assert_eq!(&read_plain(&again).state, &read.state);
        let kept = read.state.cookies.len() + read.state.origins.len();
        prop_assert_eq!(kept + losses(&receipt).len(), receipt.items.len());
        for (key, origin) in &read.state.origins {
            prop_assert_eq!(Some(origin), wanted.origins.get(key));
        }
        for cookie in &read.state.cookies {
            let is_it = |other: &&Cookie| is_same(other, cookie);
            prop_assert!(wanted.cookies.iter().any(|other| is_it(&other)), "{:?}", cookie);
        }
    }
}

/// The same cookie, but for a scheme and a port that were not known.
fn is_same(wanted: &Cookie, found: &Cookie) -> bool {
    let mut found = found.clone();
    if wanted.source_scheme == SourceScheme::Unset {
        found.source_scheme = SourceScheme::Unset;
    }
    if wanted.source_port.is_none() {
        found.source_port = None;
    }
    found == *wanted
}

fn cookie(name: &str) -> Cookie {
    Cookie {
        name: name.to_owned(),
        value: "v".to_owned(),
        domain: "app.test".to_owned(),
        path: "/".to_owned(),
        expires: None,
        http_only: false,
        secure: true,
        same_site: None,
        priority: baton_session::cookie::Priority::Medium,
        source_scheme: SourceScheme::Secure,
        source_port: Some(443),
        partition_key: None,
    }
}

#[test]
fn a_profile_has_cookies_local_storage_and_permissions() {
    let mut wanted = State::default();
    let partition = PartitionKey {
        top_level_site: "https://top.test".to_owned(),
        has_cross_site_ancestor: true,
    };
    wanted.cookies = vec![
        Cookie { expires: Some(Expiry(NOW.0 + 1)), ..cookie("lasting") },
        Cookie { partition_key: Some(partition), ..cookie("partitioned") },
        cookie("ends with the browser"),
    ];
    for key in ["https://app.test/", "https://cdn.test/^0https://app.test"] {
        let origin = wanted.origins.entry(StorageKey::new(key)).or_default();
        origin.local_storage = [("key", "value"), ("é", "漢")].into_iter().collect();
    }
    wanted.environment.permissions = vec![Permission {
        name: "camera".to_owned(),
        origin: "https://app.test".to_owned(),
        setting: Setting::Allow,
        changed: Some(NOW.0),
    }];
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("deep/profile");
    let receipt = compile(&wanted, &profile, times()).unwrap();
    assert_eq!((receipt.restored, losses(&receipt)), (6, vec![]));
    assert_eq!(read_plain(&profile).state, rows_of(&wanted));
    assert_eq!(fs::metadata(&profile).unwrap().permissions().mode() & 0o777, 0o700);
    let beside: Vec<_> = fs::read_dir(profile.parent().unwrap()).unwrap().collect();
    assert_eq!(beside.len(), 1, "nothing is left beside it: {beside:?}");
}

#[test]
fn what_a_profile_does_not_have_is_listed() {
    let mut wanted = State::default();
    let origin = wanted.origins.entry(StorageKey::new("https://app.test/")).or_default();
    origin.databases.push(Database { name: "mail".into(), version: 1, stores: vec![] });
    let key = StorageKey::new("https://app.test/");
    let session_storage = BTreeMap::from([(key, [("a", "b")].into_iter().collect())]);
    let url = "https://app.test/?token=secret".to_owned();
    wanted.tabs.push(Tab { url, session_storage, ..Tab::default() });
    wanted.environment.timezone = Some("Asia/Tokyo".to_owned());
    wanted.cookies = vec![
        Cookie { expires: Some(Expiry(NOW.0)), ..cookie("old") },
        Cookie { domain: "Upper.test".to_owned(), ..cookie("upper") },
        cookie("twice"),
        cookie("twice"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let receipt = compile(&wanted, &folder.path().join("profile"), times()).unwrap();
    insta::assert_snapshot!(losses(&receipt).join("\n"), @r#"
    cookie Upper.test/ upper: expected a lower-case ASCII host without a port as domain, found "Upper.test"
    cookie app.test/ old: it expired
    cookie app.test/ twice: a later cookie is the same cookie
    session_storage https://app.test/: a profile has no tabs: baton import and baton sessions resume bring them
    indexed_db https://app.test/ mail: only a page can make it: baton import and baton sessions resume do
    tab https://app.test/?token=[redacted]: a profile has no tabs: baton import and baton sessions resume bring them
    environment time zone: a profile has no such setting: give it to the browser that you start
    "#);
}
