//! Whether a state logs somebody in, and what is left of it after a sandbox.

use baton_session::login::{Known, Login, expect_login, logins};
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::state::OriginState;
use baton_session::view::Domain;
use baton_session::write_back::{After, TakeBack, written_back};
use baton_session::{Cookie, Database, Entries, Receipt, State, StorageKey, Tab};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

fn noon() -> Timestamp {
    "2026-01-01T12:00:00Z".parse().unwrap()
}

fn cookie(domain: &str, name: &str, hours: Option<i64>) -> Cookie {
    let expires = hours.map(|hours| (noon() + SignedDuration::from_hours(hours)).as_microsecond());
    let json =
        json!({"name": name, "value": "1", "domain": domain, "path": "/", "expires": expires});
    serde_json::from_value(json).unwrap()
}

fn state(cookies: &[Cookie]) -> State {
    State { cookies: cookies.to_vec(), ..State::default() }
}

fn entries(value: &str) -> Entries {
    [("token", value)].into_iter().collect()
}

fn stored(mut state: State, origin: &str, value: &str) -> State {
    let stored = OriginState { local_storage: entries(value), ..OriginState::default() };
    state.origins.insert(StorageKey::first_party(origin), stored);
    state
}

fn says(state: &State, domains: &[&str]) -> String {
    let domains: Vec<Domain> = domains.iter().map(|domain| domain.parse().unwrap()).collect();
    match expect_login(Known::of(state), &domains, noon()) {
        Ok(()) => "logged in".to_owned(),
        Err(error) => error.to_string().lines().next().unwrap().to_owned(),
    }
}

#[test]
fn a_login_lasts_as_long_as_one_of_its_cookies() {
    let kept = state(&[cookie("app.test", "sid", Some(1)), cookie("app.test", "old", Some(-1))]);
    assert_eq!(says(&kept, &[]), "logged in");
    assert_eq!(says(&kept, &["app.test"]), "logged in");
    let ended = state(&[cookie("app.test", "sid", Some(-2)), cookie("app.test", "old", Some(-1))]);
    insta::assert_snapshot!(says(&ended, &[]), @"expected a login for any site that still lasts, found that its last cookie expired at 2026-01-01T11:00:00Z");
    insta::assert_snapshot!(says(&ended, &["app.test"]), @"expected a login for app.test that still lasts, found that its last cookie expired at 2026-01-01T11:00:00Z");
    assert_eq!(says(&state(&[cookie("app.test", "sid", None)]), &["app.test"]), "logged in");
}

#[test]
fn what_is_stored_may_be_a_login_too() {
    let token = stored(State::default(), "https://app.test", "eyJ");
    assert_eq!(says(&token, &[]), "logged in");
    assert_eq!(says(&token, &["app.test"]), "logged in");
    insta::assert_snapshot!(says(&token, &["other.test"]), @"expected a login for other.test, found neither a cookie nor anything stored");
    insta::assert_snapshot!(says(&State::default(), &[]), @"expected a login for any site, found neither a cookie nor anything stored");
}

#[test]
fn every_domain_that_is_wanted_needs_a_login() {
    let kept = state(&[cookie("a.test", "sid", Some(1)), cookie(".b.test", "sid", Some(1))]);
    assert_eq!(says(&kept, &["a.test", "b.test"]), "logged in");
    assert_eq!(says(&kept, &["www.b.test"]), "logged in", "the cookie goes to what is below");
    for other in ["c.test", "www.a.test", "ab.test"] {
        assert!(says(&kept, &["a.test", other]).starts_with("expected a login for"), "{other}");
    }
}

#[test]
fn the_forecast_is_told_site_by_site() {
    let kept = state(&[
        cookie("www.app.test", "sid", Some(2)),
        cookie(".app.test", "long", Some(100)),
        cookie("other.test", "sid", Some(-1)),
    ]);
    let told: Vec<String> = logins(Known::of(&kept), noon())
        .into_iter()
        .map(|Login { site, forecast: f, .. }| {
            format!("{} {} {} {:?}", site.as_str(), f.cookies, f.expired, f.next)
        })
        .collect();
    assert_eq!(told, ["app.test 2 0 Some(2026-01-01T14:00:00Z)", "other.test 0 1 None"]);
}

/// Where a state is logged in, how likely, and where to begin.
fn likely(state: &State, keys: &[&str]) -> Vec<String> {
    let keys: Vec<StorageKey> = keys.iter().map(|key| StorageKey::first_party(key)).collect();
    let told = |login: Login| format!("{:?} {}", login.likelihood, login.address);
    logins(Known { stored: &keys, ..Known::of(state) }, noon()).into_iter().map(told).collect()
}

#[test]
fn the_likeliest_comes_first_and_a_tracker_not_at_all() {
    let mut kept = state(&[
        cookie(".doubleclick.net", "IDE", Some(9)),
        cookie(".shop.test", "_ga", Some(9)),
        cookie(".shop.test", "sid", Some(9)),
        cookie("art.test", "kept", None),
        cookie("bank.test", "sid", None),
        cookie("over.test", "sid", Some(-1)),
        cookie("over.test", "_ga", Some(1)),
    ]);
    kept.tabs.push(Tab { url: "http://shop.test:3000/cart?a=b".to_owned(), ..Tab::default() });
    assert_eq!(
        likely(&kept, &[]),
        [
            "Likely http://shop.test:3000",
            "Likely https://bank.test",
            "Possible https://art.test",
            "Over https://over.test",
        ]
    );
}

#[test]
fn a_login_that_is_stored_counts_and_what_is_not_loaded_may_be_one() {
    let kept = stored(State::default(), "https://app.test", "x");
    assert_eq!(
        likely(&kept, &["http://127.0.0.1:3000"]),
        ["Likely https://app.test", "Possible http://127.0.0.1:3000"]
    );
}

#[test]
fn what_logs_nobody_in_is_named() {
    let kept = state(&[cookie("app.test", "_ga", Some(1)), cookie("app.test", "_gid", Some(1))]);
    insta::assert_snapshot!(says(&kept, &[]), @"expected a login for any site, found only _ga and 1 more, which logs nobody in");
    insta::assert_snapshot!(says(&kept, &["app.test"]), @"expected a login for app.test, found only _ga and 1 more, which logs nobody in");
    let mut kept = State::default();
    let mut database = database("firebaseLocalStorageDb", &["firebase:authUser:key:[DEFAULT]"]);
    let origin = OriginState { databases: vec![database.clone()], ..OriginState::default() };
    kept.origins.insert(StorageKey::first_party("https://app.test"), origin);
    assert_eq!(says(&kept, &["app.test"]), "logged in");
    assert_eq!(likely(&kept, &[]), ["Likely https://app.test"]);
    // Who signs out leaves an empty one.
    database.stores[0].records.clear();
    kept.origins.values_mut().for_each(|origin| origin.databases = vec![database.clone()]);
    insta::assert_snapshot!(says(&kept, &["app.test"]), @"expected a login for app.test, found neither a cookie nor anything stored");
}

/// A database with a record for each of these keys.
fn database(name: &str, keys: &[&str]) -> Database {
    let record =
        |key: &&str| json!({"key": {"root": key, "heap": []}, "value": {"root": "1", "heap": []}});
    let records: Vec<_> = keys.iter().map(record).collect();
    let store = json!({"name": "s", "keyPath": null, "autoIncrement": false,
        "nextKey": null, "indexes": [], "records": records});
    let json = json!({"name": name, "version": 1, "stores": [store]});
    serde_json::from_value(json).unwrap()
}

#[test]
fn what_pages_made_in_a_sandbox_is_back_and_what_was_never_there_stays() {
    let key = StorageKey::first_party("https://app.test");
    let with = |databases: &[(&str, &[&str])]| {
        let databases = databases.iter().map(|(name, keys)| database(name, keys)).collect();
        OriginState { databases, local_storage: entries("kept"), ..OriginState::default() }
    };
    let before = with(&[("auth", &["old"]), ("dropped", &["x"]), ("never", &["x"])]);
    let before = State { origins: [(key.clone(), before)].into(), ..State::default() };
    let handed =
        |name: &str| ReceiptItem::restored(ItemKind::IndexedDb, key.place_of(&name.into()));
    let refused = |name: &str| {
        ReceiptItem::rejected(ItemKind::IndexedDb, key.place_of(&name.into()), "no room")
    };
    let handed: Receipt =
        [handed("auth"), handed("dropped"), refused("never")].into_iter().collect();
    let planted = StorageKey::first_party("https://bank.test");
    let found = with(&[("auth", &["new"]), ("more", &["x"])]);
    let pages = [(key.clone(), found.clone()), (planted.clone(), found)].into();
    let after = || After {
        pages: Clone::clone(&pages),
        state: before.clone(),
        others: vec![planted.clone()],
        ..After::default()
    };
    let back = written_back(before.clone().into(), after(), &handed, TakeBack::Lent);
    assert_eq!(back.left_out.items[0].place, "https://bank.test/");
    let held = back.state;
    let names: Vec<_> =
        held.origins[&key].databases.iter().map(|one| one.name.to_lossy()).collect();
    assert_eq!(names, ["auth", "more", "never"]);
    assert_eq!(held.origins[&key].databases[0], database("auth", &["new"]));
    assert_eq!(held.origins[&key].local_storage, entries("kept"));
    assert!(!held.origins.contains_key(&planted));
    let all = written_back(before.clone().into(), after(), &handed, TakeBack::All).state;
    assert!(all.origins.contains_key(&planted));
}

/// A profile in which no page was looked at.
fn rows(state: State) -> After {
    After { state, ..After::default() }
}

#[test]
fn a_sandbox_changes_only_what_was_in_its_profile() {
    let partition = "https://frame.test^0https://app.test";
    let mut before = stored(state(&[cookie("app.test", "sid", None)]), "https://app.test", "old");
    before = stored(before, "https://gone.test", "old");
    before.tabs.push(Tab { url: "https://app.test/a".to_owned(), ..Tab::default() });
    let never = OriginState { local_storage: entries("kept"), ..OriginState::default() };
    before.origins.insert(StorageKey::new(partition), never.clone());
    let place = |origin: &str| ReceiptItem::restored(ItemKind::LocalStorage, origin.to_owned());
    let first = |origin: &str| StorageKey::first_party(origin);
    let handed: Receipt = [
        place(first("https://app.test").as_str()),
        place(first("https://gone.test").as_str()),
        ReceiptItem::not_portable(ItemKind::LocalStorage, partition, "no row"),
    ]
    .into_iter()
    .collect();
    let after = stored(state(&[cookie("app.test", "sid2", None)]), "https://app.test", "new");
    let after = stored(after, "https://new.test", "new");
    let back = written_back(before.clone().into(), rows(after), &handed, TakeBack::All);
    assert_eq!(back.left_out, Receipt::default());
    let held = back.state;
    assert_eq!(held.cookies, [cookie("app.test", "sid2", None)]);
    assert_eq!(held.tabs, before.tabs);
    let token = |origin: &str| held.origins.get(&first(origin)).map(|o| o.local_storage.clone());
    assert_eq!(token("https://app.test"), Some(entries("new")));
    assert_eq!(token("https://new.test"), Some(entries("new")));
    assert!(token("https://gone.test").is_none_or(|entries| entries.is_empty()));
    assert_eq!(held.origins[&StorageKey::new(partition)], never);
}

#[test]
fn a_sandbox_gives_back_only_sites_that_it_was_lent() {
    let before = stored(state(&[cookie("app.test", "sid", None)]), "https://stored.test", "old");
    let cookies = [
        cookie("app.test", "sid2", None),
        cookie(".www.app.test", "other", None),
        cookie(".bank.test", "planted", None),
        cookie("accounts.google.com", "planted", None),
        cookie("api.stored.test", "sid", None),
    ];
    let after = stored(state(&cookies), "https://api.stored.test", "new");
    let after = stored(after, "https://bank.test", "planted");
    let back =
        written_back(before.clone().into(), rows(after), &Receipt::default(), TakeBack::Lent);
    let mut domains: Vec<&str> = back.state.cookies.iter().map(|one| &*one.domain).collect();
    domains.sort_unstable();
    assert_eq!(domains, [".www.app.test", "api.stored.test", "app.test"]);
    let token = |origin: &str| back.state.origins.contains_key(&StorageKey::first_party(origin));
    assert!(token("https://api.stored.test") && !token("https://bank.test"));
    let left = back.left_sites.iter().map(|(site, items)| (site.as_str(), *items));
    assert_eq!(left.collect::<Vec<_>>(), [("bank.test", 2), ("google.com", 1)]);
    let named: Vec<&str> = back.left_out.items.iter().map(|item| &*item.place).collect();
    assert_eq!(named.len(), 3, "{named:?}");
    assert!(named.iter().any(|place| place.starts_with(".bank.test/")), "{named:?}");

    // However many are planted, the answer stays short, and says how many.
    let many: Vec<_> = (0..5000).map(|at| cookie(&format!("s{at}.test"), "x", None)).collect();
    let back = written_back(before.into(), rows(state(&many)), &Receipt::default(), TakeBack::Lent);
    assert_eq!((back.state.cookies.len(), back.left_sites.len()), (0, 5000));
    assert_eq!(back.left_out.items.len(), 201);
    assert_eq!(back.left_out.items[200].place, "4800 more");
}

#[test]
fn what_a_tab_alone_keeps_may_be_a_login() {
    let kept = |name: &str, key: &str| {
        let entries: Entries = [(name, "eyJhbGciOiJIUzI1NiJ9.e30.c2ln")].into_iter().collect();
        let url = "https://app.test/".to_owned();
        let session_storage = [(StorageKey::new(key), entries)].into();
        State { tabs: vec![Tab { url, session_storage, ..Tab::default() }], ..State::default() }
    };
    let own = kept("auth_token", "https://app.test/");
    expect_login(Known::of(&own), &["app.test".parse().unwrap()], noon()).unwrap();
    let [login] = &logins(Known::of(&own), noon())[..] else { panic!("expected one login") };
    assert_eq!((login.site.as_str(), login.is_stored), ("app.test", true));
    // A taste is none, and what no document can have again is none either.
    for other in [
        kept("theme", "https://app.test/"),
        kept("theme", "https://app.test/^0https://b.test"),
        kept("auth_token", "https://app.test/^1a^2b"),
    ] {
        expect_login(Known::of(&other), &[], noon()).unwrap_err();
        assert_eq!(logins(Known::of(&other), noon()), []);
    }
}

#[test]
fn what_a_frame_alone_keeps_may_be_a_login_of_its_own_site() {
    let key = StorageKey::new("https://id.test/^0https://shop.test");
    let entries = [("auth_token", "eyJhbGciOiJIUzI1NiJ9.e30.c2ln")].into_iter().collect();
    let url = "https://shop.test/".to_owned();
    let tab = Tab { url, session_storage: [(key, entries)].into(), ..Tab::default() };
    let state = State { tabs: vec![tab], ..State::default() };
    let expect = |domain: &str| expect_login(Known::of(&state), &[domain.parse().unwrap()], noon());
    expect("id.test").unwrap();
    expect("shop.test").unwrap_err();
    let [login] = &logins(Known::of(&state), noon())[..] else { panic!("expected one login") };
    assert_eq!((login.site.as_str(), login.is_stored), ("id.test", true));
}
