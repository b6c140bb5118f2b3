//! Session files: what goes in comes out, and what is wrong in one is named by its place.

use crate::arbitrary;
use baton_session::cookie::Expiry;
use baton_session::revision::deleted_checksum;
use baton_session::state::{Geolocation, Viewport};
use baton_session::wire::{
    Head, NodeType, Provenance, SessionFile, Version, checksum_of, is_session_file, read, write,
};
use baton_session::{Entries, PartHash, Receipt, State, StorageKey, Tab, admit};
use baton_testing::cases;
use proptest::prelude::*;
use serde_json::{Value, json};

fn head() -> Head {
    let origin = Provenance {
        node_id: "0197c0de-5100-7000-8000-000000000001".to_owned(),
        node_type: NodeType::Hosted,
        node_url: String::new(),
        created_at: Some("2026-01-01T12:00:00Z".parse().unwrap()),
        created_by: "ada".to_owned(),
    };
    let last_modified = Some("2026-01-02T12:00:00Z".parse().unwrap());
    let sync = Version { version: 1, last_modified, ..Version::default() };
    Head {
        id: "0197c0de-5100-7000-8000-000000000002".to_owned(),
        name: "shop".to_owned(),
        description: "Ada's".to_owned(),
        origin,
        sync,
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn every_state_comes_back(state in arbitrary::state()) {
        let file = SessionFile { head: head(), state };
        let (again, left_out) = read(write(&file).as_bytes()).unwrap();
        prop_assert_eq!(left_out, Receipt::default());
        let mut expected = file.state;
        expected.normalize();
        forget_numbers(&mut expected);
        prop_assert_eq!(again.state, expected);
    }

    #[test]
    fn a_state_has_the_checksum_of_its_file(state in arbitrary::state()) {
        let mut other = state.clone();
        // Those of another site come first.
        other.cookies.sort_by_key(|cookie| std::cmp::Reverse(cookie.site()));
        for origin in other.origins.values_mut() {
            origin.databases.reverse();
            origin.caches.reverse();
            origin.files.reverse();
            origin.raw.reverse();
            origin.service_workers.reverse();
            origin.service_workers.iter_mut().for_each(|one| one.scripts.reverse());
        }
        other.tabs.iter_mut().for_each(|tab| tab.id = "of another browser".to_owned());
        forget_numbers(&mut other);
        let checksum = checksum_of(&state);
        prop_assert_eq!(checksum_of(&other), checksum);
        let file: Value = serde_json::from_str(&write(&SessionFile { head: head(), state })).unwrap();
        prop_assert_eq!(&file["sync"]["checksum"], &checksum.to_string());
    }

    #[test]
    fn a_cut_file_never_panics(end in any::<prop::sample::Index>()) {
        let file = write(&SessionFile { head: head(), state: State::default() });
        let end = end.index(file.len());
        prop_assert!(read(&file.as_bytes()[..end]).is_err());
    }

    #[test]
    fn what_is_admitted_once_is_admitted_again(mut state in arbitrary::state()) {
        admit::admit(&mut state, Expiry(0));
        let admitted = state.clone();
        prop_assert_eq!(admit::admit(&mut state, Expiry(0)), Receipt::default());
        prop_assert_eq!(state, admitted);
    }
}

/// Drops the numbers that one browser gave to the entries of its histories.
fn forget_numbers(state: &mut State) {
    let entries = state.tabs.iter_mut().flat_map(|tab| &mut tab.history.entries);
    entries.for_each(|entry| entry.id = 0);
}

#[test]
fn a_number_that_json_does_not_have_is_null_in_the_checksum_too() {
    let mut file = shop();
    let nowhere = Geolocation { latitude: f64::NAN, longitude: 0.0, accuracy: 1.0 };
    file.state.environment.geolocation = Some(nowhere);
    let document: Value = serde_json::from_str(&write(&file)).unwrap();
    let (state, mut tabs) = (&document["state"], document["tabs"].clone());
    assert_eq!(state["environment"]["geolocation"]["latitude"], Value::Null);
    for tab in tabs.as_array_mut().unwrap() {
        tab.as_object_mut().unwrap().remove("id");
    }
    let (cookies, environment, origins) =
        (&state["cookies"], &state["environment"], &state["origins"]);
    let covered = json!({
        "state": {"cookies": cookies, "environment": environment, "origins": origins},
        "tabs": tabs,
    });
    let canonical = serde_json_canonicalizer::to_vec(&covered).unwrap();
    assert_eq!(checksum_of(&file.state), PartHash::of(&canonical));
}

#[test]
fn what_is_deleted_has_a_checksum_of_its_own() {
    assert_ne!(deleted_checksum(), checksum_of(&State::default()));
    insta::assert_snapshot!(
        deleted_checksum(),
        @"1b70b1c98c544d975c39049311ab1d24ed1d87aedc2874bdc946d39bd421b4b8"
    );
}

fn shop() -> SessionFile {
    let key = StorageKey::first_party("https://app.test");
    let mut state = State::default();
    state.environment.viewport = Some(Viewport { width: 800, height: 600 });
    let entries: Entries = [("theme", "dark")].into_iter().collect();
    state.origins.entry(key.clone()).or_default().local_storage = entries;
    let mut tab = Tab { url: "https://app.test/cart".to_owned(), ..Tab::default() };
    (tab.title, tab.active) = ("Cart".to_owned(), true);
    tab.session_storage.insert(key, [("step", "2")].into_iter().collect());
    state.tabs = vec![Tab { url: "https://other.test/".to_owned(), ..Tab::default() }, tab];
    let cookie = r#"{"name":"sid","value":"s3cret","domain":"app.test","path":"/","expires":1800000000500000}"#;
    state.cookies.push(serde_json::from_str(cookie).unwrap());
    SessionFile { head: head(), state }
}

fn document() -> Value {
    serde_json::from_str(&write(&shop())).unwrap()
}

fn refused(document: &Value) -> String {
    read(document.to_string().as_bytes()).unwrap_err().to_string()
}

#[test]
fn a_file_has_the_fields_that_everybody_knows() {
    insta::assert_json_snapshot!(document(), @r#"
    {
      "description": "Ada's",
      "id": "0197c0de-5100-7000-8000-000000000002",
      "name": "shop",
      "origin": {
        "createdAt": "2026-01-01T12:00:00Z",
        "createdBy": "ada",
        "nodeId": "0197c0de-5100-7000-8000-000000000001",
        "nodeType": "hosted",
        "nodeUrl": ""
      },
      "state": {
        "cookies": [
          {
            "domain": "app.test",
            "expires": 1800000000.5,
            "httpOnly": false,
            "name": "sid",
            "path": "/",
            "priority": "Medium",
            "secure": false,
            "sourceScheme": "Unset",
            "value": "s3cret"
          }
        ],
        "environment": {
          "viewport": {
            "height": 600,
            "width": 800
          }
        },
        "localStorage": {
          "theme": "dark"
        },
        "origins": [
          {
            "databases": [],
            "localStorage": [
              [
                "theme",
                "dark"
              ]
            ],
            "storageKey": "https://app.test/"
          }
        ],
        "sessionStorage": {
          "step": "2"
        },
        "title": "Cart",
        "url": "https://app.test/cart",
        "viewport": {
          "height": 600,
          "width": 800
        }
      },
      "sync": {
        "checksum": "7a5b8b2a66133b6b81a13bcb7365445383c6a83d380989431547d03f7532169a",
        "lastModified": "2026-01-02T12:00:00Z",
        "lastSyncedTo": [],
        "version": 1
      },
      "tabs": [
        {
          "active": false,
          "title": "",
          "url": "https://other.test/"
        },
        {
          "active": true,
          "sessionStorage": {
            "https://app.test/": [
              [
                "step",
                "2"
              ]
            ]
          },
          "title": "Cart",
          "url": "https://app.test/cart"
        }
      ]
    }
    "#);
}

#[test]
fn a_changed_file_is_noticed_wherever_it_counts() {
    let mut changed = document();
    changed["state"]["cookies"][0]["value"] = json!("other");
    let text = refused(&changed);
    assert!(text.contains("checksum") && !text.contains("other"), "{text}");
    changed["sync"].as_object_mut().unwrap().remove("checksum");
    assert_eq!(read(changed.to_string().as_bytes()).unwrap().0.state.cookies[0].value, "other");
    // Derived fields and the names of tabs do not count.
    let mut same = document();
    same["state"]["url"] = json!("https://nowhere.test/");
    same["tabs"][0]["id"] = json!("T1");
    assert!(read(same.to_string().as_bytes()).is_ok());
}

#[test]
fn a_file_of_plain_fields_belongs_to_its_address() {
    let mut plain = document();
    let state = plain["state"].as_object_mut().unwrap();
    state.remove("origins");
    state.remove("environment");
    state.insert("indexedDB".to_owned(), json!("AAAA"));
    state["cookies"][0]["expires"] = json!(-1);
    state["cookies"][0]["partitionKey"] = json!("https://top.test");
    plain.as_object_mut().unwrap().remove("tabs");
    let (file, left_out) = read(plain.to_string().as_bytes()).unwrap();
    let shop = shop().state;
    assert_eq!(file.state.origins, shop.origins);
    assert_eq!(file.state.environment, shop.environment);
    assert_eq!(file.state.tabs, shop.tabs[1..]);
    assert_eq!(file.state.cookies[0].expires, None);
    let key = file.state.cookies[0].partition_key.as_ref().unwrap();
    assert_eq!(
        (key.top_level_site.as_str(), key.has_cross_site_ancestor),
        ("https://top.test", true)
    );
    insta::assert_snapshot!(lines(&left_out), @"indexed_db state.indexedDB: the plain field indexedDB has no defined form; state.origins has one");

    plain["state"]["url"] = json!("about:blank");
    let (file, left_out) = read(plain.to_string().as_bytes()).unwrap();
    assert!(file.state.origins.is_empty());
    insta::assert_snapshot!(lines(&left_out), @r"
    indexed_db state.indexedDB: the plain field indexedDB has no defined form; state.origins has one
    local_storage state.localStorage: expected state.url to have an origin whose storage it is
    session_storage state.sessionStorage: expected state.url to have an origin whose storage it is
    ");
}

fn lines(receipt: &Receipt) -> String {
    let line = |item: &baton_session::receipt::ReceiptItem| {
        format!("{} {}: {}", item.kind, item.place, item.reason.clone().unwrap_or_default())
    };
    receipt.items.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_is_wrong_is_named_by_its_place_and_never_by_its_value() {
    let breaks: [(&str, Value); 12] = [
        ("/state/cookies/0/name", json!(5)),
        ("/state/cookies/0/expires", json!("s3cret")),
        ("/state/cookies/0/sameSite", json!("s3cret")),
        ("/state/cookies", json!({})),
        ("/state/origins/0/storageKey", json!(null)),
        ("/state/origins/0/localStorage", json!([["s3cret"]])),
        ("/state/origins/0/databases", json!("s3cret")),
        ("/state/origins", json!("s3cret")),
        ("/state/environment", json!({"viewport": {"width": "s3cret"}})),
        ("/tabs/1/sessionStorage", json!({"https://app.test/": "s3cret"})),
        ("/origin/nodeType", json!("s3cret")),
        ("/state", json!("s3cret")),
    ];
    let told = breaks.map(|(place, value)| {
        let mut broken = document();
        broken["sync"]["checksum"] = json!("");
        broken["state"]["cookies"][0]["sameSite"] = json!("Lax");
        *broken.pointer_mut(place).unwrap() = value;
        refused(&broken)
    });
    assert!(!told.join("\n").contains("s3cret"), "{told:#?}");
    insta::assert_snapshot!(told.join("\n"), @r#"
    in the session file, at state.cookies[0].name: expected a string
    in the session file, at state.cookies[0].expires: expected seconds since 1970, or -1
    in the session file, at state.cookies[0].sameSite: expected one of `Strict`, `Lax`, `None`
    in the session file, at state.cookies: expected an array, found an object
    in the session file, at state.origins[0].storageKey: expected a storage key such as "https://app.test/"
    in the session file, at state.origins[0].localStorage[0]: expected an array of two
    in the session file, at state.origins[0].databases: expected an array
    in the session file, at state.origins: expected an array, found a string
    in the session file, at state.environment.viewport.width: expected a whole number
    in the session file, at tabs[1].sessionStorage.https://app.test/: expected an array
    in the session file, at origin.nodeType: expected `cloud` or `hosted`
    this is a session file; expected an object with state as an object, found a string
    "#);
}

#[test]
fn a_key_that_stands_twice_is_no_guess() {
    let mut twice = document();
    let origin = twice["state"]["origins"][0].clone();
    twice["state"]["origins"].as_array_mut().unwrap().push(origin);
    twice["sync"]["checksum"] = json!("");
    insta::assert_snapshot!(refused(&twice), @"in the session file, at state.origins[1].storageKey: expected each storage key once, found it again");
}

/// Found by fuzzing: it was told as a `storageState` file that is none.
#[test]
fn a_file_whose_state_stands_twice_is_a_session_file() {
    let text = r#"{"state": 1, "name": "shop", "state": {"cookies": []}}"#;
    assert!(is_session_file(text.as_bytes()));
    assert_eq!(read(text.as_bytes()).unwrap().0.head.name, "shop");
}

#[test]
fn what_a_newer_writer_adds_is_covered_and_told_and_costs_nothing_else() {
    let mut newer = document();
    newer["sync"]["checksum"] = json!("");
    newer["state"]["origins"][0]["later"] = json!({"a": [1, 2]});
    newer["state"]["later"] = json!(1);
    newer["tabs"][0]["later"] = json!(true);
    let (file, left_out) = read(newer.to_string().as_bytes()).unwrap();
    assert_eq!(file.state, shop().state);
    insta::assert_snapshot!(lines(&left_out), @r#"
    part state: "later" is no member that is known here: it is left out
    part state.origins: "later" is no member that is known here: it is left out
    part tabs: "later" is no member that is known here: it is left out
    "#);
}

#[test]
fn only_what_a_browser_can_be_given_is_admitted() {
    let mut state = shop().state;
    let mut later = state.cookies[0].clone();
    later.value = "later".to_owned();
    let mut expired = later.clone();
    (expired.name, expired.expires) = ("old".to_owned(), Some(Expiry(5)));
    let mut broken = later.clone();
    (broken.name, broken.domain) = ("bad".to_owned(), "App.test".to_owned());
    state.cookies.extend([later, expired, broken]);
    let entries: Entries = [("a", "1")].into_iter().collect();
    for key in ["file:///", "https://app.test/path/", "chrome://settings/"] {
        state.origins.entry(StorageKey::new(key)).or_default().local_storage = entries.clone();
    }
    state.tabs[0].session_storage.insert(StorageKey::new("file:///"), entries);
    for url in ["file:///etc/passwd", "chrome://settings/", "javascript:alert(1)", "nowhere"] {
        state.tabs.push(Tab { url: url.to_owned(), active: true, ..Tab::default() });
    }
    let left_out = admit::admit(&mut state, Expiry(1_000_000));
    insta::assert_snapshot!(lines(&left_out), @r#"
    cookie App.test/ bad: expected a lower-case ASCII host without a port as domain, found "App.test"
    cookie app.test/ old: it expired
    cookie app.test/ sid: a later cookie in the file is the same cookie
    local_storage chrome://settings/: expected the storage key of an http or https origin
    local_storage file:///: expected the storage key of an http or https origin
    local_storage https://app.test/path/: expected the storage key of an http or https origin
    tab file:///etc/passwd: expected an http, https or about address
    tab chrome://settings/: expected an http, https or about address
    tab javascript:[redacted]: expected an http, https or about address
    tab nowhere: expected an http, https or about address
    session_storage file:///: expected the storage key of an http or https origin
    "#);
    let mut expected = shop().state;
    expected.cookies[0].value = "later".to_owned();
    assert_eq!(state, expected);
}
