//! Which snapshot counts, which ones pruning spares, and how a person names one.

use crate::fixture::{Engine, Fixture, cookies, new_snapshot, next_instant};
use baton_session::{Receipt, Session, SnapshotId, SnapshotReason};
use baton_store::{NewSnapshot, Snapshot, StoreError};
use rstest::rstest;

/// An automatic snapshot of little.
async fn shrunk(fixture: &Fixture, session: &Session) -> Snapshot {
    let reason = SnapshotReason::Interval;
    let new = NewSnapshot { shrunk: true, reason, ..new_snapshot(session, &[]) };
    fixture.store.create_snapshot(new).await.unwrap()
}

/// A snapshot of a cookie that no other one has.
async fn good(fixture: &Fixture, session: &Session) -> Snapshot {
    let part = cookies("a.example", next_instant().to_string().as_bytes());
    fixture.snapshot(session, &[part]).await
}

/// Makes a snapshot what nobody makes by hand.
async fn mark(fixture: &Fixture, snapshot: &Snapshot, column: &str) {
    let id = snapshot.id;
    let sql = format!("update snapshots set {column} = 1 where id = '{id}'");
    assert_eq!(fixture.execute(&sql).await, 1);
}

/// The snapshots that are left, newest first.
async fn left(fixture: &Fixture, session: &Session) -> Vec<SnapshotId> {
    let all = fixture.store.list_snapshots(session.id, None, 100).await.unwrap();
    all.iter().map(|snapshot| snapshot.id).collect()
}

#[rstest]
#[tokio::test]
async fn the_last_good_one_is_neither_shrunk_nor_a_sibling(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let made = fixture.session("mail").await;
    assert_eq!(store.last_good_snapshot(made.id).await.unwrap(), None);
    let first = shrunk(&fixture, &made).await;
    assert_eq!(store.last_good_snapshot(made.id).await.unwrap(), None);
    let kept = good(&fixture, &made).await;
    let sibling = good(&fixture, &made).await;
    mark(&fixture, &sibling, "sibling").await;
    let newest = shrunk(&fixture, &made).await;
    assert_eq!(store.last_good_snapshot(made.id).await.unwrap(), Some(kept));
    assert_eq!(store.latest_snapshot(made.id).await.unwrap(), Some(newest));
    assert!(first.shrunk && store.fetch_snapshot(&made.owner, first.id).await.unwrap().shrunk);
}

#[rstest]
#[tokio::test]
async fn pruning_spares_the_last_good_one_the_saved_and_the_one_that_was_resumed(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let made = fixture.session("mail").await;
    let resumed_before = good(&fixture, &made).await;
    let resumed = good(&fixture, &made).await;
    for snapshot in [resumed_before.id, resumed.id] {
        let (at, receipt) = (next_instant(), Receipt::default());
        store.create_receipt(made.id, snapshot, at, &receipt).await.unwrap();
    }
    let saved = good(&fixture, &made).await;
    mark(&fixture, &saved, "saved").await;
    let older = good(&fixture, &made).await;
    let last_good = good(&fixture, &made).await;
    let mut newest = Vec::new();
    for _ in 0..4 {
        newest.insert(0, shrunk(&fixture, &made).await.id);
    }
    assert_eq!(store.prune_snapshots(made.id, 2).await.unwrap(), 4);
    let expected = [newest[0], newest[1], last_good.id, saved.id, resumed.id];
    assert_eq!(left(&fixture, &made).await, expected);
    assert_eq!(store.prune_snapshots(made.id, 2).await.unwrap(), 0);
    assert_eq!(fixture.count("parts").await, 3, "the parts went with them");
    let gone = store.find_snapshot(made.id, &older.id.to_string()).await;
    assert!(matches!(gone, Err(StoreError::SnapshotNotFound { .. })));
}

#[rstest]
#[tokio::test]
async fn a_snapshot_lets_the_oldest_go_in_its_own_transaction(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    let mut newest = Vec::new();
    for number in 0..4 {
        let part = cookies("a.example", &[number]);
        let new = NewSnapshot { keep: Some(2), ..new_snapshot(&made, &[part]) };
        newest.insert(0, fixture.store.create_snapshot(new).await.unwrap().id);
    }
    assert_eq!(left(&fixture, &made).await, newest[..2]);
    assert_eq!(fixture.count("parts").await, 2);
}

/// Nobody asked for the pruning.
#[tokio::test]
async fn a_pruning_that_fails_costs_no_snapshot() {
    let fixture = Fixture::open(Engine::Sqlite).await;
    let made = fixture.session("mail").await;
    let first = good(&fixture, &made).await;
    let refuse = "create trigger kept before delete on parts begin select raise(abort, 'no'); end";
    fixture.execute(refuse).await;
    let part = cookies("a.example", b"2");
    let new = NewSnapshot { keep: Some(1), ..new_snapshot(&made, &[part]) };
    let second = fixture.store.create_snapshot(new.clone()).await.unwrap();
    assert_eq!(left(&fixture, &made).await, [second.id, first.id], "all of it was undone");
    fixture.execute("drop trigger kept").await;
    let third = good(&fixture, &made).await;
    assert_eq!(fixture.store.prune_snapshots(made.id, 1).await.unwrap(), 2);
    assert_eq!(left(&fixture, &made).await, [third.id]);
    assert_eq!(fixture.count("parts").await, 1);
}

#[rstest]
#[tokio::test]
async fn siblings_do_not_crowd_out_the_line_they_stand_beside(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    let newest = good(&fixture, &made).await;
    let mut siblings = Vec::new();
    for _ in 0..3 {
        let sibling = good(&fixture, &made).await;
        mark(&fixture, &sibling, "sibling").await;
        siblings.insert(0, sibling.id);
    }
    assert_eq!(fixture.store.prune_snapshots(made.id, 2).await.unwrap(), 1);
    assert_eq!(left(&fixture, &made).await, [siblings[0], siblings[1], newest.id]);
    // With siblings only, the newest of them stay.
    mark(&fixture, &newest, "sibling").await;
    assert_eq!(fixture.store.prune_snapshots(made.id, 2).await.unwrap(), 1);
    assert_eq!(left(&fixture, &made).await, siblings[..2]);
}

#[rstest]
#[tokio::test]
async fn a_person_names_a_snapshot_by_its_id_or_its_start(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (made, other) = (fixture.session("mail").await, fixture.session("other").await);
    let with_id = async |session: &Session, id: &str| {
        let new = NewSnapshot { id: id.parse().unwrap(), ..new_snapshot(session, &[]) };
        fixture.store.create_snapshot(new).await.unwrap().id
    };
    let one = with_id(&made, "01890000-0000-7000-8000-0000000000aa").await;
    let two = with_id(&made, "01890000-0000-7000-8000-0000000000bb").await;
    let foreign = with_id(&other, "0abc0000-0000-7000-8000-000000000000").await;
    let find = async |reference: &str| {
        fixture.store.find_snapshot(made.id, reference).await.map(|snapshot| snapshot.id)
    };
    assert_eq!(find(&one.to_string().to_uppercase()).await.unwrap(), one);
    assert_eq!(find("01890000-0000-7000-8000-0000000000B").await.unwrap(), two);
    match find("0189").await.unwrap_err() {
        StoreError::AmbiguousSnapshot { matches, .. } => assert_eq!(matches, [one, two]),
        other => panic!("{other}"),
    }
    for unknown in ["0abc", &foreign.to_string(), "018", "", "mail", "a\0b", "%"] {
        let error = find(unknown).await.unwrap_err();
        assert!(matches!(error, StoreError::SnapshotNotFound { .. }), "{unknown:?}: {error}");
    }
}
