//! Snapshots: stored once, shared by reference, pruned and collected, and never torn.

use crate::fixture::{Engine, Fixture, cookies, new_snapshot, session};
use baton_session::{Owner, Part, SnapshotReason};
use baton_store::{Limits, NewSnapshot, StoreError};
use rstest::rstest;

#[rstest]
#[tokio::test]
async fn snapshots_share_the_parts_that_did_not_change(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let made = fixture.session("mail").await;
    let (a, b) = (cookies("a.example", b"one"), cookies("b.example", &[b'x'; 5000]));
    let first = fixture.snapshot(&made, &[b.clone(), a.clone()]).await;
    assert_eq!(first.parts, [a.reference(), b.reference()]);
    assert_eq!(first.bytes, 5003);
    assert_eq!(first.reason, SnapshotReason::Request);

    // The second names one part by reference, brings one again, and one that is new.
    let changed = cookies("c.example", b"three");
    let mut second = new_snapshot(&made, &[a.clone(), changed.clone()]);
    second.carried = vec![b.reference()];
    let second = store.create_snapshot(second).await.unwrap();
    assert_eq!(fixture.count("parts").await, 3);

    let owner = Owner::local();
    assert_eq!(store.fetch_snapshot(&owner, first.id).await.unwrap(), first);
    assert_eq!(store.latest_snapshot(made.id).await.unwrap(), Some(second.clone()));
    let parts = store.fetch_parts(&owner, &second.parts).await.unwrap();
    let parts: Vec<Part> = parts.into_iter().map(Result::unwrap).collect();
    assert_eq!(parts, [a, b, changed]);
    let foreign = store.fetch_snapshot(&"ann".parse().unwrap(), first.id).await;
    assert!(matches!(foreign, Err(StoreError::SnapshotNotFound { .. })));
}

#[rstest]
#[tokio::test]
async fn the_snapshot_stored_last_is_the_newest_even_when_the_clock_was_set_back(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let made = fixture.session("mail").await;
    assert_eq!(store.latest_snapshot(made.id).await.unwrap(), None);
    let early = new_snapshot(&made, &[]);
    let late = fixture.snapshot(&made, &[]).await;
    let early = store.create_snapshot(early).await.unwrap();
    assert!(early.id < late.id);
    assert_eq!(store.latest_snapshot(made.id).await.unwrap().unwrap().id, early.id);

    let page = store.list_snapshots(made.id, None, 10).await.unwrap();
    assert_eq!(page, [early.clone(), late.clone()]);
    assert_eq!(store.list_snapshots(made.id, Some(early.id), 10).await.unwrap(), [late]);
    let unknown = new_snapshot(&made, &[]).id;
    let lost = store.list_snapshots(made.id, Some(unknown), 10).await;
    assert!(matches!(lost, Err(StoreError::SnapshotNotFound { .. })));
    assert_eq!(store.prune_snapshots(made.id, 0).await.unwrap(), 1);
    assert_eq!(store.latest_snapshot(made.id).await.unwrap().unwrap().id, early.id);
}

#[rstest]
#[tokio::test]
async fn pruning_keeps_the_newest_and_collects_what_nothing_names(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let (mail, other) = (fixture.session("mail").await, fixture.session("other").await);
    let shared = cookies("shared.example", b"shared");
    fixture.snapshot(&other, std::slice::from_ref(&shared)).await;
    for number in 0..5_u8 {
        fixture.snapshot(&mail, &[shared.clone(), cookies("a.example", &[number])]).await;
    }
    assert_eq!(fixture.count("parts").await, 6);
    assert_eq!(store.prune_snapshots(mail.id, 2).await.unwrap(), 3);
    assert_eq!(fixture.count("parts").await, 3);
    assert_eq!(store.prune_snapshots(mail.id, 2).await.unwrap(), 0);
    assert_eq!(store.prune_snapshots(mail.id, 0).await.unwrap(), 1);
    let last = store.latest_snapshot(mail.id).await.unwrap().unwrap();
    assert_eq!(last.parts[0], cookies("a.example", &[4]).reference());
    // The other session still has its part.
    assert_eq!(store.fetch_part(&Owner::local(), &shared.reference()).await.unwrap(), shared);
    assert_eq!(store.collect_parts().await.unwrap(), 0);
    let unknown = store.prune_snapshots(session("unknown").id, 1).await;
    assert!(matches!(unknown, Err(StoreError::SessionNotFound { .. })));
}

#[rstest]
#[tokio::test]
async fn a_refused_snapshot_stores_nothing(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let limits = Limits { part_bytes: 4, snapshot_parts: 2, ..Limits::default() };
    let fixture = Fixture::open_with(engine, limits).await;
    let made = fixture.session("mail").await;
    let kept = fixture.snapshot(&made, &[]).await;
    let (a, b, c) = (cookies("a", b"1"), cookies("b", b"2"), cookies("c", b"3"));
    let with = |parts: &[Part]| new_snapshot(&made, parts);
    let refuse = async |new: NewSnapshot| fixture.store.create_snapshot(new).await.unwrap_err();

    let error = refuse(with(&[a.clone(), b.clone(), c])).await;
    assert!(matches!(error, StoreError::TooManyParts { found: 3, limit: 2 }), "{error}");
    let error = refuse(with(&[a.clone(), cookies("a", b"2")])).await;
    assert!(matches!(&error, StoreError::DuplicatePart { name, .. } if name == "a"), "{error}");
    let error = refuse(with(&[cookies("a", b"12345")])).await;
    assert!(matches!(error, StoreError::PartTooLarge { found: 5, limit: 4, .. }), "{error}");
    let carried = NewSnapshot { carried: vec![b.reference()], ..with(std::slice::from_ref(&a)) };
    let error = refuse(carried).await;
    assert!(matches!(&error, StoreError::PartMissing { name, .. } if name == "b"), "{error}");
    let error = refuse(NewSnapshot { id: kept.id, ..with(std::slice::from_ref(&a)) }).await;
    assert!(matches!(error, StoreError::IdTaken { .. }), "{error}");
    let ann: Owner = "ann".parse().unwrap();
    let error = refuse(NewSnapshot { owner: ann, ..with(&[a]) }).await;
    assert!(matches!(error, StoreError::SessionNotFound { .. }), "{error}");
    assert_eq!(fixture.count("snapshots").await, 1);
    assert_eq!(fixture.count("parts").await, 0);
}

#[rstest]
#[tokio::test]
async fn a_snapshot_of_many_parts_is_whole(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("mail").await;
    let parts: Vec<Part> = (0..1203_u32)
        .map(|number| cookies(&format!("{number:04}.example"), &number.to_be_bytes()))
        .collect();
    let stored = fixture.snapshot(&made, &parts).await;
    let carried = NewSnapshot { carried: stored.parts.clone(), ..new_snapshot(&made, &[]) };
    let again = fixture.store.create_snapshot(carried).await.unwrap();
    assert_eq!(again.parts, stored.parts);
    assert_eq!(
        fixture.count("part_spans").await,
        1204,
        "with the list; what was carried over takes no row"
    );
    let found = fixture.store.fetch_parts(&made.owner, &again.parts).await.unwrap();
    let found: Vec<Part> = found.into_iter().map(Result::unwrap).collect();
    assert_eq!(found, parts);
}

/// Writers bring parts that others have just given up, pruners and collectors take what nothing
/// names: whatever was acknowledged can be read in full.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_collected(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let mut tasks = tokio::task::JoinSet::new();
    for worker in 0..4_u8 {
        let made = fixture.session(&format!("worker-{worker}")).await;
        // Every other one is another node on the same database.
        let store =
            if worker % 2 == 0 { fixture.store.clone() } else { fixture.open_again().await };
        tasks.spawn(async move {
            for round in 0..15_u8 {
                // Few values, so that the parts of the workers meet.
                let parts =
                    [cookies("a.example", &[round % 3]), cookies("b.example", &[round % 2])];
                let stored = store.create_snapshot(new_snapshot(&made, &parts)).await.unwrap();
                for part in store.fetch_parts(&made.owner, &stored.parts).await.unwrap() {
                    part.unwrap();
                }
                store.prune_snapshots(made.id, 1).await.unwrap();
                store.collect_parts().await.unwrap();
            }
        });
    }
    tasks.join_all().await;
    assert_eq!(fixture.count("snapshots").await, 4);
    assert_eq!(fixture.count("parts").await, 2);
}

#[rstest]
#[tokio::test]
async fn a_snapshot_whose_list_is_corrupt_costs_itself_only(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let made = fixture.session("mail").await;
    let good = fixture.snapshot(&made, &[cookies("a.example", b"1")]).await;
    let bad = fixture.snapshot(&made, &[cookies("a.example", b"2")]).await;
    // The manifest of the one is put in the place of the other: it opens for neither.
    let copied = fixture
        .execute(&format!(
            "update snapshots set manifest = (select manifest from snapshots where id = '{}') \
             where id = '{}'",
            good.id, bad.id
        ))
        .await;
    assert_eq!(copied, 1);
    let error = store.latest_snapshot(made.id).await.unwrap_err();
    assert!(matches!(error, StoreError::SnapshotCorrupt { id, .. } if id == bad.id), "{error}");
    let history = store.list_history(made.id, None, 10).await.unwrap();
    assert!(matches!(history[0], Err(StoreError::SnapshotCorrupt { id, .. }) if id == bad.id));
    assert_eq!(store.list_snapshots(made.id, None, 10).await.unwrap(), [good]);
}

#[test]
fn words_of_reasons_are_read_back() {
    for reason in SnapshotReason::ALL {
        assert_eq!(reason.as_str().parse(), Ok(reason));
        let json = serde_json::to_string(&reason).unwrap();
        assert_eq!(json, format!("\"{reason}\""));
    }
    assert!("reopen".parse::<SnapshotReason>().is_err());
}

/// SQLite ends a transaction by itself when its disk is full, as it does here for a trigger. The
/// store must not be left with a connection that believes to be in a transaction.
#[tokio::test]
async fn a_write_that_sqlite_undid_by_itself_does_not_spoil_the_next_one() {
    let fixture = Fixture::open(Engine::Sqlite).await;
    let made = fixture.session("mail").await;
    let full =
        "create trigger full before insert on parts begin select raise(rollback, 'full'); end";
    fixture.execute(full).await;
    for number in 0..20_u8 {
        let new = new_snapshot(&made, &[cookies("a.example", &[number])]);
        fixture.store.create_snapshot(new).await.unwrap_err();
    }
    fixture.execute("drop trigger full").await;
    fixture.snapshot(&made, &[cookies("a.example", b"now")]).await;
    assert_eq!(fixture.count("snapshots").await, 1);
    assert_eq!(fixture.count("parts").await, 1);
}

#[rstest]
#[tokio::test]
async fn a_snapshot_that_is_pinned_stays_until_it_is_not(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let (mail, other) = (fixture.session("mail").await, fixture.session("other").await);
    let first = fixture.snapshot(&mail, &[cookies("a.example", &[0])]).await;
    let pins = [store.pin_snapshot(mail.id, first.id), store.pin_snapshot(mail.id, first.id)];
    let _elsewhere = store.pin_snapshot(other.id, first.id);
    for number in 1..5_u8 {
        let mut new = new_snapshot(&mail, &[cookies("a.example", &[number])]);
        new.keep = Some(1);
        store.create_snapshot(new).await.unwrap();
    }
    let [one, another] = pins;
    drop(one);
    assert_eq!(store.prune_snapshots(mail.id, 1).await.unwrap(), 0);
    assert_eq!(store.fetch_snapshot(&mail.owner, first.id).await.unwrap(), first);
    assert_eq!(another.id(), first.id);
    drop(another);
    assert_eq!(store.prune_snapshots(mail.id, 1).await.unwrap(), 1);
    let gone = store.fetch_snapshot(&mail.owner, first.id).await;
    assert!(matches!(gone, Err(StoreError::SnapshotNotFound { .. })));
}
