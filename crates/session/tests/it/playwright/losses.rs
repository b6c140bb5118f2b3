//! What Playwright's format cannot say is listed, never dropped silently.

use super::{lines, store};
use baton_session::cookie::Priority;
use baton_session::playwright::{Lost, read, write};
use baton_session::state::Viewport;
use baton_session::stored::{FileContent, ObjectStore, Record};
use baton_session::value::{Node, Number, Object};
use baton_session::{
    Cache, Cookie, Database, Environment, FileEntry, State, StorageKey, Tab, Value,
};

pub(super) fn lost_lines(lost: &[Lost]) -> String {
    lines(lost.iter().map(|item| (&item.place, &item.reason)))
}

/// A database with one record for each value.
fn database(values: Vec<Value>) -> Database {
    let record = |(key, value): (u32, Value)| Record {
        key: Value::primitive(Node::Number(Number(f64::from(key)))),
        value,
    };
    let records = (1..).zip(values).map(record).collect();
    let store = ObjectStore {
        name: "s".into(),
        key_path: None,
        auto_increment: true,
        next_key: Some(99),
        indexes: Vec::new(),
        records,
    };
    Database { name: "app".into(), version: 1, stores: vec![store] }
}

fn holding(objects: Vec<Object>) -> Value {
    let nodes = (1..=objects.len()).map(Node::Ref).collect();
    let heap = std::iter::once(Object::Set { values: nodes }).chain(objects).collect();
    Value::new(Node::Ref(0), heap).unwrap()
}

/// Values that the format cannot say, or not exactly.
fn unsayable() -> Vec<Value> {
    let date = || Object::Date { time: Node::Number(Number(0.0)) };
    let twice = Value::new(
        Node::Ref(1),
        vec![date(), Object::Set { values: vec![Node::Ref(0), Node::Ref(0)] }],
    );
    let view = Object::View {
        kind: "Uint8Array".into(),
        buffer: Node::Ref(2),
        offset: 1,
        length: 1,
        follows: false,
    };
    let buffer = Object::ArrayBuffer { bytes: "AQID".into(), max: None };
    let part =
        Value::new(Node::Ref(0), vec![Object::Set { values: vec![Node::Ref(1)] }, view, buffer]);
    let proto = vec![("__proto__".into(), Node::Null)];
    let deep = |n: usize| Object::Set { values: vec![Node::Ref(n + 1)] };
    let deep = (0..500).map(deep).chain([date()]).collect();
    vec![
        holding(vec![Object::Blob { mime: String::new(), bytes: String::new() }]),
        holding(vec![Object::Lost { kind: "CryptoKey".into() }]),
        holding(vec![Object::Array { length: 2, entries: vec![("1".into(), Node::Null)] }]),
        holding(vec![Object::Object { entries: proto }]),
        holding(vec![Object::Date { time: Node::Number(Number(f64::NAN)) }]),
        twice.unwrap(),
        part.unwrap(),
        Value::new(Node::Ref(0), deep).unwrap(),
    ]
}

#[test]
fn what_the_format_cannot_say_is_listed() {
    let mut state = State {
        tabs: vec![Tab { url: "https://app.test/?code=1".into(), ..Tab::default() }],
        environment: Environment {
            viewport: Some(Viewport { width: 800, height: 600 }),
            ..Environment::default()
        },
        ..State::default()
    };
    let shown = StorageKey::first_party("https://app.test");
    state.tabs[0].session_storage.insert(shown.clone(), [("a", "1")].into_iter().collect());
    state.origins.entry(shown).or_default().databases.push(database(unsayable()));
    let third_key = StorageKey::new("https://cdn.test/^0https://app.test");
    let third = state.origins.entry(third_key.clone()).or_default();
    third.local_storage = [("a", "1")].into_iter().collect();
    third.databases.push(database(Vec::new()));

    third.caches.push(Cache { name: "shell".into(), position: 0, entries: Vec::new() });
    let strange = |path: &str, content| FileEntry { path: vec![path.to_owned()], content };
    let own = state.origins.entry(StorageKey::first_party("https://app.test")).or_default();
    own.files = vec![
        strange("a/b", FileContent::Folder),
        strange("c", FileContent::File { bytes: "?".to_owned() }),
    ];
    let third = state.origins.get_mut(&third_key).unwrap();
    third.files.push(FileEntry { path: vec!["a".to_owned()], content: FileContent::Folder });

    let (file, lost) = write(&state);
    insta::assert_snapshot!(lost_lines(&lost), @r"
    https://app.test indexedDB app/s record 0: left out: the format takes no Blob
    https://app.test indexedDB app/s record 1: left out: the format takes only what a script can read
    https://app.test indexedDB app/s record 2: left out: the format takes an array without holes and names
    https://app.test indexedDB app/s record 3: left out: the format takes no property called __proto__
    https://app.test indexedDB app/s record 4: left out: the format takes a valid Date from the year 0 to 9999
    https://app.test indexedDB app/s record 5: a Date that is referred to twice becomes two
    https://app.test indexedDB app/s record 6: a view keeps only its own part of its buffer
    https://app.test indexedDB app/s record 7: left out: the format takes a value nested less than 129 deep
    https://app.test indexedDB app/s: its keys go on at 8, not at 99
    https://app.test files a/b: left out: expected a path of names with '/' between them
    https://app.test files c: left out: expected the bytes of a file in base64
    https://cdn.test/^0https://app.test localStorage: left out: the format knows first parties only
    https://cdn.test/^0https://app.test indexedDB app: left out: the format knows first parties only
    https://cdn.test/^0https://app.test files: left out: the format knows first parties only
    https://cdn.test/^0https://app.test cache shell: left out: the format has no caches
    tab 0, https://app.test/?code=[redacted]: left out: the format has no tabs
    tab 0, https://app.test/?code=[redacted]: left out: the format has no sessionStorage (of https://app.test/)
    environment: left out: the format has no environment
    ");
    let (again, ignored) = read(file.as_bytes()).unwrap();
    assert_eq!(ignored, []);
    assert_eq!(store(&again, "s").records.len(), 2);
}

#[test]
fn what_a_cookie_loses_is_listed() {
    let file = r#"{"cookies":[{"name":"sid","value":"1","domain":"app.test","path":"/"}]}"#;
    let (mut state, _) = read(file.as_bytes()).unwrap();
    let sid = state.cookies[0].clone();
    state.cookies[0].priority = Priority::High;
    state.cookies[0].source_port = Some(443);
    let old = Cookie { value: "0".to_owned(), ..sid.clone() };
    let bad = Cookie { name: "__Host-bad".to_owned(), ..sid };
    state.cookies.extend([old, bad]);
    let (file, lost) = write(&state);
    insta::assert_snapshot!(lost_lines(&lost), @r#"
    app.test/ __Host-bad: left out: expected Secure, path '/' and a host-only domain because of the prefix of "__Host-bad"
    app.test/ sid: left out: another cookie differs in the scheme or port that set it only
    app.test/ sid: its unspecified SameSite becomes Lax
    app.test/ sid: its priority becomes Medium
    cookies: the scheme and port that set 1 of them have no field
    "#);
    insta::assert_snapshot!(file, @r#"
    {
      "cookies": [
        {
          "name": "sid",
          "value": "1",
          "domain": "app.test",
          "path": "/",
          "expires": -1,
          "httpOnly": false,
          "secure": false,
          "sameSite": "Lax"
        }
      ],
      "origins": []
    }
    "#);
}
