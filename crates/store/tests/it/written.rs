//! What a capture after one changed item gives to the disk, on SQLite.

use crate::fixture::{Engine, Fixture, cookies, new_snapshot};
use baton_session::{Part, PartKind, PartRef};
use baton_store::NewSnapshot;
use rstest::rstest;

/// So many captures fit into SQLite's log before it is carried over.
const CAPTURES: u64 = 50;

/// Bytes of the log for each capture. Ids are random, and with them how many pages a change touches:
/// as a rule it is three quarters of this, and what is carried over later adds a tenth.
const MOST: u64 = 64_000;

/// Twenty items of one origin.
fn items(origin: usize, changed: u64) -> Part {
    let item = |number| format!("\"item {number}\":\"value of host{origin} {changed}\"");
    let items: Vec<String> = (0..20).map(item).collect();
    let name = format!("http://host{origin}.localhost:8080/");
    Part { kind: PartKind::LocalStorage, name, bytes: items.join(",").into_bytes() }
}

/// What a session of fifty origins holds: of each its cookies, its items and a database.
fn held() -> Vec<Part> {
    let origin = |origin: usize| {
        let host = format!("host{origin}.localhost");
        let name = format!("[\"http://{host}:8080/\",\"memory\"]");
        let database = Part { kind: PartKind::Database, name, bytes: host.repeat(40).into_bytes() };
        [cookies(&host, format!("login at {host}").as_bytes()), items(origin, 0), database]
    };
    (0..50).flat_map(origin).collect()
}

#[rstest]
#[tokio::test]
async fn one_changed_item_among_fifty_origins_writes_little(
    #[values(None, Some(10))] keep: Option<u32>,
) {
    let fixture = Fixture::open(Engine::Sqlite).await;
    let made = fixture.session("mail").await;
    let mut parts: Vec<PartRef> = fixture.snapshot(&made, &held()).await.parts;
    let mut log = fixture.path().into_os_string();
    log.push("-wal");
    let length = || std::fs::metadata(&log).unwrap().len();
    fixture.execute("pragma wal_checkpoint(truncate)").await;
    assert_eq!(length(), 0);
    for number in 1..=CAPTURES {
        let part = items(7, number);
        parts.retain(|known| (known.kind, &known.name) != (part.kind, &part.name));
        let new = NewSnapshot { carried: parts, keep, ..new_snapshot(&made, &[part]) };
        parts = fixture.store.create_snapshot(new).await.unwrap().parts;
    }
    assert_eq!(parts.len(), 150);
    let each = length() / CAPTURES;
    assert!(each > 0 && each < MOST, "{each} bytes for each capture");
}
