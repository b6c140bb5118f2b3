//! Copies of a database, looks at it, and the node to which a copy belongs.

use crate::fixture::{Engine, Fixture, config, cookies, next_instant, node, session};
use baton_session::Lifecycle;
use baton_store::{
    DatabaseUrl, Epoch, MasterKey, Store, StoreError, copy_database, inspect, is_sealed,
};
use rstest::rstest;

fn key() -> MasterKey {
    MasterKey::from_bytes([7; 32])
}

/// A writer stores one snapshot after the other, and never waits for the copy.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_beside_a_writer_is_whole() {
    let fixture = Fixture::open(Engine::Sqlite).await;
    let made = fixture.session("mail").await;
    fixture.snapshot(&made, &[cookies("a.example", &vec![0; 100_000])]).await;
    let (store, writing) = (fixture.store.clone(), made.clone());
    let writer = tokio::spawn(async move {
        for number in 0_u8..60 {
            let parts =
                [cookies("a.example", &vec![number; 20_000]), cookies("b.example", &[number])];
            store.create_snapshot(crate::fixture::new_snapshot(&writing, &parts)).await.unwrap();
        }
    });
    for round in 0..5 {
        let to = fixture.folder.path().join(format!("copy-{round}.db"));
        let contents = copy_database(&fixture.database, &key(), &to).await.unwrap();
        let copy = Store::open(config(&DatabaseUrl::Sqlite(to))).await.unwrap();
        let snapshots = copy.list_snapshots(made.id, None, 1_000).await.unwrap();
        assert_eq!(snapshots.len() as u64, contents.snapshots);
        for snapshot in snapshots {
            let parts = copy.fetch_parts(&made.owner, &snapshot.parts).await.unwrap();
            assert!(!parts.is_empty() && parts.iter().all(Result::is_ok));
        }
    }
    writer.await.unwrap();
}

#[rstest]
#[tokio::test]
async fn a_look_counts_and_changes_nothing(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    fixture.snapshot(&made, &[cookies("a.example", b"1")]).await;
    fixture
        .execute("insert into parts (id, owner, sealed) select 'x', owner, sealed from parts")
        .await;
    let found = inspect(&fixture.database, &key(), Some(node())).await.unwrap();
    assert_eq!(found.sessions, [(made.id, Lifecycle::Active)]);
    assert_eq!((found.contents.sessions, found.contents.snapshots), (1, 1));
    assert_eq!((found.contents.parts, found.unnamed_parts, found.missing_parts), (2, 1, 0));
    assert_eq!(found.place, None);
    let insert = format!(
        "insert into nodes (id, place, beat, lease) values ('{}', '/elsewhere', 0, 0)",
        node()
    );
    fixture.execute(&insert).await;
    let found = inspect(&fixture.database, &key(), Some(node())).await.unwrap();
    assert_eq!(found.place.as_deref(), Some("/elsewhere"));

    let wrong =
        inspect(&fixture.database, &MasterKey::from_bytes([8; 32]), None).await.unwrap_err();
    assert!(matches!(wrong, StoreError::WrongKey { .. }), "{wrong}");
    fixture.execute("update _sqlx_migrations set version = 1000 where version = 2").await;
    let newer = inspect(&fixture.database, &key(), None).await.unwrap_err();
    assert!(matches!(newer, StoreError::NewerSchema { found: 1000, .. }), "{newer}");
}

#[rstest]
#[tokio::test]
async fn a_new_epoch_takes_nothing_over_that_runs(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let captured = fixture.session("captured").await;
    fixture.snapshot(&captured, &[cookies("a.example", b"1")]).await;
    let young = fixture.session("young").await;
    let stale = fixture.session("stale").await;
    let (from, to) = (Lifecycle::Active, Lifecycle::Stale);
    fixture.store.update_lifecycle(stale.id, stale.node, from, to, next_instant()).await.unwrap();
    let lease = format!("insert into leases values ('{}', '{}', 5)", captured.id, node());
    fixture.execute(&lease).await;
    fixture.execute("insert into nodes (id, place, beat, lease) values ('a', 'b', 0, 0)").await;

    let new_node = "01890000-0000-7000-8000-00000000000f".parse().unwrap();
    let epoch = fixture.store.begin_epoch(new_node, next_instant()).await.unwrap();
    assert_eq!(epoch, Epoch { recoverable: 1, closed: 1 });
    for (was, now) in
        [(captured, Lifecycle::Recoverable), (young, Lifecycle::Closed), (stale, Lifecycle::Stale)]
    {
        let found = fixture.store.fetch_session(&was.owner, was.id).await.unwrap();
        assert_eq!((found.lifecycle, found.node), (now, new_node), "{}", was.name);
    }
    assert_eq!(fixture.count("nodes").await, 0);
    assert_eq!(fixture.count("leases where node is null and term = 5").await, 1);
    // A name that a closed session held is free.
    fixture.store.create_session(&session("young")).await.unwrap();
}

#[rstest]
#[tokio::test]
async fn a_database_tells_without_a_key_whether_it_needs_one(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    assert!(is_sealed(&fixture.database).await.unwrap());
    fixture.execute("delete from data_keys").await;
    assert!(!is_sealed(&fixture.database).await.unwrap());
    let nowhere = DatabaseUrl::Sqlite(fixture.folder.path().join("new.db"));
    assert!(!is_sealed(&nowhere).await.unwrap());
    assert!(!fixture.folder.path().join("new.db").exists());
}
