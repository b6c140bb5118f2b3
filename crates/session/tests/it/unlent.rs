//! What no script can read is in no sandbox, and so it is in the session as before when that comes back.

use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::state::OriginState;
use baton_session::stored::{CacheEntry, CachedResponse, FileContent, FileEntry};
use baton_session::write_back::{After, Before, TakeBack, WrittenBack, written_back};
use baton_session::{
    Cache, Cookie, Database, Pages, Part, PartKind, PartRef, Receipt, State, StorageKey, parts,
};
use serde_json::{Value, json};

fn key() -> StorageKey {
    StorageKey::first_party("https://app.test")
}

fn text(text: &str) -> Value {
    json!({ "root": text })
}

/// A key that its site marked as not extractable.
fn sealed() -> Value {
    json!({ "root": { "ref": 0 }, "heap": [{ "type": "lost", "kind": "CryptoKey" }] })
}

/// A database whose only store has these records.
fn database(version: u64, records: &[(&str, Value)]) -> Database {
    let record = |(key, value): &(&str, Value)| json!({ "key": text(key), "value": value });
    let records: Vec<Value> = records.iter().map(record).collect();
    let store = json!({
        "name": "values", "keyPath": null, "autoIncrement": false, "indexes": [], "records": records,
    });
    serde_json::from_value(json!({ "name": "vault", "version": version, "stores": [store] }))
        .unwrap()
}

fn pages(origin: OriginState) -> Pages {
    [(key(), origin)].into()
}

fn with_database(database: Database) -> OriginState {
    OriginState { databases: vec![database], ..OriginState::default() }
}

/// What becomes of a session of which a sandbox was handed `handed`.
fn back(before: OriginState, after: OriginState, handed: &Receipt) -> WrittenBack {
    let before = State { origins: pages(before), ..State::default() };
    let after = After { pages: pages(after), ..After::default() };
    written_back(before.into(), after, handed, TakeBack::Lent)
}

/// That all of it went in, but for what no script can read.
fn all_but_the_sealed() -> Receipt {
    let why = "1 record holds a value that no script can read";
    let place = key().place_of(&"vault".into());
    Receipt::from_iter([ReceiptItem::back_in_part(ItemKind::IndexedDb, place, why)])
}

#[test]
fn a_record_that_no_script_can_read_is_in_its_place_as_before() {
    let before = [("a", text("1")), ("b", sealed()), ("c", text("3")), ("e", sealed())];
    // The page changed one, removed one and wrote one.
    let after = [("a", text("new")), ("d", text("4"))];
    let back = back(
        with_database(database(1, &before)),
        with_database(database(1, &after)),
        &all_but_the_sealed(),
    );
    assert_eq!(back.left_out, Receipt::default());
    let expected = [("a", text("new")), ("b", sealed()), ("e", sealed()), ("d", text("4"))];
    assert_eq!(back.state.origins[&key()].databases, [database(1, &expected)]);
}

#[test]
fn what_was_written_in_its_place_counts() {
    let after = with_database(database(1, &[("b", text("open"))]));
    let before = with_database(database(1, &[("b", sealed())]));
    let back = back(before, after.clone(), &all_but_the_sealed());
    assert_eq!((back.left_out, &back.state.origins[&key()]), (Receipt::default(), &after));
}

#[test]
fn a_record_whose_database_has_another_form_now_is_named() {
    let before = with_database(database(1, &[("a", text("1")), ("b", sealed())]));
    let after = with_database(database(2, &[("a", text("1"))]));
    let back = back(before, after.clone(), &all_but_the_sealed());
    assert_eq!(back.state.origins[&key()], after);
    let [lost] = &back.left_out.items[..] else { panic!("{:?}", back.left_out) };
    assert_eq!((lost.kind, &*lost.place), (ItemKind::IndexedDb, "https://app.test/ vault"));
    let why =
        "1 record holds a value that no script can read, and its database has another form now";
    assert_eq!(lost.reason.as_deref(), Some(why));
}

#[test]
fn what_was_in_the_sandbox_can_be_deleted_there() {
    let place = key().place_of(&"vault".into());
    let whole = Receipt::from_iter([ReceiptItem::restored(ItemKind::IndexedDb, place)]);
    let before = with_database(database(1, &[("a", text("1")), ("b", sealed())]));
    let after = with_database(database(1, &[("a", text("1"))]));
    let back = back(before, after.clone(), &whole);
    assert_eq!((back.left_out, &back.state.origins[&key()]), (Receipt::default(), &after));
}

#[test]
fn of_a_database_that_was_deleted_there_nothing_is_left_but_what_no_script_can_read() {
    // Who signs out deletes it, and the token in it with it.
    let before = with_database(database(1, &[("token", text("1")), ("key", sealed())]));
    let signed_out = back(before.clone(), OriginState::default(), &all_but_the_sealed());
    let left = with_database(database(1, &[("key", sealed())]));
    assert_eq!(signed_out.state.origins[&key()], left);
    // One that was not in the sandbox at all cannot have been deleted there.
    let place = key().place_of(&"vault".into());
    let none = Receipt::from_iter([ReceiptItem::not_portable(ItemKind::IndexedDb, place, "no")]);
    let never_there = back(before.clone(), OriginState::default(), &none);
    assert_eq!(never_there.state.origins[&key()], before);
}

#[test]
fn a_response_that_no_script_can_read_is_in_its_cache_as_before() {
    let entry = |url: &str, response: CachedResponse| {
        let url = format!("https://app.test/{url}");
        CacheEntry { url, headers: Vec::new(), response }
    };
    let lost = |url: &str| entry(url, CachedResponse::Lost { kind: "opaque".to_owned() });
    let whole = |url: &str, body: &str| {
        let (status_text, body) = ("OK".to_owned(), body.to_owned());
        let headers = Vec::new();
        entry(url, CachedResponse::Whole { status: 200, status_text, headers, body })
    };
    let cache = |entries: Vec<CacheEntry>| OriginState {
        caches: vec![Cache { name: "shell".into(), position: 0, entries }],
        ..OriginState::default()
    };
    let place = key().place_of(&"shell".into());
    let handed =
        || Receipt::from_iter([ReceiptItem::back_in_part(ItemKind::Cache, place.clone(), "2")]);
    let before = cache(vec![lost("a"), whole("b", ""), lost("c")]);
    let after = cache(vec![whole("c", "bmV3"), whole("d", "")]);
    let expected = cache(vec![whole("c", "bmV3"), whole("d", ""), lost("a")]);
    assert_eq!(back(before.clone(), after, &handed()).state.origins[&key()], expected);
    // The page removed its cache.
    let back = back(before, OriginState::default(), &handed());
    assert_eq!(back.state.origins[&key()], cache(vec![lost("a"), lost("c")]));
}

#[test]
fn what_cannot_be_read_any_more_was_handed_in_all_the_same() {
    let cookie = |value: &str| -> Cookie {
        let cookie = json!({ "name": "sid", "value": value, "domain": "app.test", "path": "/" });
        serde_json::from_value(cookie).unwrap()
    };
    let vault = |value: &str| with_database(database(1, &[("a", text(value))]));
    let stored = OriginState { local_storage: [("a", "1")].into_iter().collect(), ..vault("1") };
    let had = State { cookies: vec![cookie("1")], origins: pages(stored), ..State::default() };
    let all = parts::split(&had);
    let damaged: Vec<PartRef> =
        all.iter().map(Part::reference).filter(|part| !part.kind.is_of_environment()).collect();
    let sites = damaged.iter().filter_map(PartRef::site).collect();
    let before = Before { state: State::default(), sites, damaged: damaged.clone() };
    let state = State { cookies: vec![cookie("2")], ..State::default() };
    let after = After { state, pages: pages(vault("2")), ..After::default() };
    let handed = Receipt::from_iter([
        ReceiptItem::restored(ItemKind::LocalStorage, key().as_str()),
        ReceiptItem::restored(ItemKind::IndexedDb, key().place_of(&"vault".into())),
    ]);
    let back = written_back(before.clone(), after.clone(), &handed, TakeBack::Lent);
    assert_eq!((back.state.cookies, back.left_sites.len()), (vec![cookie("2")], 0));
    assert_eq!(back.state.origins[&key()], vault("2"), "a page cleared its localStorage");
    assert_eq!((back.damaged, back.kept), (damaged, vec![]));

    // What was not in the profile, and what nobody looked at, cannot have been changed there.
    let unread = After { pages: Pages::new(), ..after.clone() };
    let kinds = |back: WrittenBack| back.kept.iter().map(|part| part.kind).collect::<Vec<_>>();
    let kept = written_back(before.clone(), unread, &handed, TakeBack::Lent);
    assert_eq!(kinds(kept), [PartKind::Database]);
    let kept = written_back(before, after, &Receipt::default(), TakeBack::Lent);
    assert_eq!(kinds(kept), [PartKind::LocalStorage, PartKind::Database]);
}

#[test]
fn folders_that_alone_have_what_no_script_can_read_stay_as_long_as_nothing_changes() {
    // Of a session that was imported with them and that no browser here had.
    let path = ["https_app.test_0.indexeddb.leveldb", "CURRENT"].map(str::to_owned).to_vec();
    let raw = vec![FileEntry { path, content: FileContent::File { bytes: String::new() } }];
    let named = |name: &str, database: Database| Database { name: name.into(), ..database };
    let vault = database(1, &[("a", text("1")), ("b", sealed())]);
    let tokens = named("tokens", database(1, &[("a", text("1"))]));
    let before = || OriginState {
        databases: vec![tokens.clone(), vault.clone()],
        raw: raw.clone(),
        ..OriginState::default()
    };
    let place =
        |name: &str| ReceiptItem::restored(ItemKind::IndexedDb, key().place_of(&name.into()));
    let whole = Receipt::from_iter([place("tokens"), place("vault")]);
    let after = |databases: Vec<Database>, damaged: Vec<PartRef>| {
        let state = State { origins: pages(before()), ..State::default() };
        let origin = OriginState { databases, ..OriginState::default() };
        let after = After { pages: pages(origin), ..After::default() };
        let before = Before { damaged, ..state.into() };
        let back = written_back(before, after, &whole, TakeBack::Lent);
        let lines = back.left_out.items.into_iter().map(|item| {
            assert_eq!((item.kind, &*item.place), (ItemKind::IndexedDb, "https://app.test/"));
            item.reason.unwrap()
        });
        (back.state.origins[&key()].raw.clone(), lines.collect::<Vec<_>>())
    };
    let all = || vec![vault.clone(), tokens.clone()];
    assert_eq!(after(all(), vec![]), (raw.clone(), vec![]));
    let changed =
        "what no script can read of it is lost, for its site changed its databases in the sandbox";
    let lost = |why: &str| (Vec::<FileEntry>::new(), vec![why.to_owned()]);
    // They would bring back what was deleted there, and an old key beside what was signed with a new one; and none of
    // them is of use to a database of another form.
    for databases in [
        vec![vault.clone()],
        vec![tokens.clone(), database(1, &[("a", text("1"))])],
        vec![tokens.clone(), database(1, &[("a", text("new")), ("b", sealed())])],
        vec![tokens.clone(), database(2, &[("a", text("1")), ("b", sealed())])],
        vec![named("tokens", database(1, &[("a", text("new"))])), vault.clone()],
        vec![tokens.clone(), vault.clone(), named("more", database(1, &[]))],
    ] {
        assert_eq!(after(databases, vec![]), lost(changed));
    }
    // What cannot be read any more may have been deleted there.
    let other = with_database(named("other", database(1, &[])));
    let other = parts::split(&State { origins: pages(other), ..State::default() });
    let is_database = |part: &&Part| part.kind == PartKind::Database;
    let damaged = other.iter().filter(is_database).map(Part::reference).collect();
    let damage = "what no script can read of it is lost, for part of it is damaged: nobody can tell \
                  what its site changed in the sandbox";
    assert_eq!(after(all(), damaged), lost(damage));
}
