//! Who listens is told which sessions changed, and finds those that rest.

use crate::fixture::{Engine, Fixture, close, cookies, new_snapshot, next_instant, node, session};
use baton_session::{Lifecycle, NodeId, Owner, SessionId, SnapshotReason};
use baton_store::{NodeRecord, StoreError};
use rstest::rstest;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;

/// What was told until now.
fn told(changes: &mut Receiver<SessionId>) -> Vec<SessionId> {
    std::iter::from_fn(|| changes.try_recv().ok()).collect()
}

#[rstest]
#[tokio::test]
async fn every_change_is_told_once_it_is_on_disk(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, mut changes) = (&fixture.store, fixture.store.listen());
    let (mut mail, part) = (session("mail"), cookies("app.test", b"[]"));
    mail.lifecycle = Lifecycle::Recoverable;
    let twice = new_snapshot(&mail, &[part.clone(), part.clone()]);
    assert!(store.create_session_with(&mail, twice).await.is_err());
    assert_eq!(told(&mut changes), [], "nothing was stored");

    store
        .create_session_with(&mail, new_snapshot(&mail, std::slice::from_ref(&part)))
        .await
        .unwrap();
    store.create_snapshot(new_snapshot(&mail, &[part])).await.unwrap();
    store.adopt_session(mail.id, node()).await.unwrap();
    store.delete_session(&mail.owner, mail.id).await.unwrap();
    assert_eq!(told(&mut changes), [mail.id; 4]);

    let shop = fixture.session("shop").await;
    let refused = store.delete_session(&shop.owner, shop.id).await;
    assert!(matches!(refused, Err(StoreError::LifecycleConflict { .. })));
    let (name, now) = ("store".parse().unwrap(), shop.updated_at);
    store.rename_session(shop.id, &name, "", now).await.unwrap();
    close(&fixture, &shop).await;
    assert_eq!(told(&mut changes), [shop.id; 3]);
    store.tell(shop.id);
    assert_eq!(told(&mut changes), [shop.id], "what is not in the database");
}

#[rstest]
#[tokio::test]
async fn a_mark_says_whether_sessions_are_others_than_before(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, owner) = (&fixture.store, Owner::local());
    let mark = async || store.sessions_mark(&owner).await.unwrap();
    let mut marks = vec![mark().await];
    let (mail, shop) = (fixture.session("mail").await, fixture.session("shop").await);
    marks.push(mark().await);
    close(&fixture, &mail).await;
    marks.push(mark().await);
    // One that is not the latest of all.
    let before = shop.updated_at - jiff::SignedDuration::from_mins(1);
    store.rename_session(shop.id, &"store".parse().unwrap(), "", before).await.unwrap();
    marks.push(mark().await);
    fixture.snapshot(&shop, &[cookies("app.test", b"[]")]).await;
    assert_eq!(mark().await, marks[3], "what was captured is another matter");
    store.delete_session(&owner, mail.id).await.unwrap();
    marks.push(mark().await);
    for (at, one) in marks.iter().enumerate() {
        assert_eq!(marks.iter().filter(|other| *other == one).count(), 1, "{at}: {marks:?}");
    }
    assert_eq!(store.sessions_mark(&"bob".parse().unwrap()).await.unwrap(), marks[0]);
}

/// Each of them is seen by who follows the list, however many sessions there are.
#[rstest]
#[tokio::test]
async fn whatever_changes_a_list_changes_its_mark(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, owner) = (&fixture.store, Owner::local());
    let elsewhere: NodeId = "01890000-0000-7000-8000-000000000002".parse().unwrap();
    let lease = Some(Duration::from_secs(30));
    let record = NodeRecord { id: node(), place: "here".to_owned(), lease };
    store.register_node(&record).await.unwrap();
    let mut marks = vec![("at first", store.sessions_mark(&owner).await.unwrap())];
    let mut note = async |what| marks.push((what, store.sessions_mark(&owner).await.unwrap()));

    let shop = fixture.session("shop").await;
    note("made").await;
    store.switch_debug(shop.id, true, next_instant()).await.unwrap();
    note("recorded").await;
    let agent = "buyer".parse().unwrap();
    store.pass_session(shop.id, None, Some(&agent), "", next_instant()).await.unwrap();
    note("passed").await;
    store.acquire_lease(shop.id, node()).await.unwrap();
    let beat = store.list_nodes().await.unwrap()[0].beat;
    let next = Lifecycle::Recoverable;
    store.expire_lease(shop.id, node(), beat, next, next_instant()).await.unwrap();
    note("its node fell silent").await;
    store.note_failed_resume(shop.id, node(), next_instant()).await.unwrap();
    note("could not be resumed").await;
    store.adopt_session(shop.id, elsewhere).await.unwrap();
    note("went to another node").await;
    let (from, to) = (Lifecycle::Recoverable, Lifecycle::Closed);
    store.update_lifecycle(shop.id, elsewhere, from, to, next_instant()).await.unwrap();
    note("closed").await;
    store.rename_session(shop.id, &"store".parse().unwrap(), "", shop.updated_at).await.unwrap();
    note("renamed").await;
    store.delete_session(&owner, shop.id).await.unwrap();
    note("deleted").await;
    let mail = session("mail");
    store.create_session_with(&mail, new_snapshot(&mail, &[])).await.unwrap();
    note("made with a snapshot").await;
    for (at, (what, mark)) in marks.iter().enumerate() {
        assert!(marks[..at].iter().all(|(_, before)| before != mark), "{what}: {marks:?}");
    }
    assert_eq!(store.sessions_mark(&"bob".parse().unwrap()).await.unwrap(), marks[0].1);
}

/// Those who write at once for one owner are counted all the same.
#[rstest]
#[tokio::test]
async fn changes_that_come_at_once_are_all_counted(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..40 {
        let (store, made) = (fixture.store.clone(), session(&format!("shop-{number}")));
        tasks.spawn(async move { store.create_session(&made).await.unwrap() });
    }
    tasks.join_all().await;
    let mut raw = fixture.raw().await;
    let sql = "select cast(sum(changes) as bigint) from list_changes";
    let counted: i64 = sqlx::query_scalar(sql).fetch_one(&mut raw).await.unwrap();
    assert_eq!(counted, 40);
}

#[rstest]
#[tokio::test]
async fn sessions_that_rest_are_listed_with_the_latest_change_first(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let (first, second) = (fixture.session("first").await, fixture.session("second").await);
    let runs = fixture.session("runs").await;
    close(&fixture, &second).await;
    close(&fixture, &first).await;
    let resting = store.list_resting_sessions(node(), 10).await.unwrap();
    let ids: Vec<_> = resting.iter().map(|session| session.id).collect();
    assert_eq!(ids, [first.id, second.id]);
    assert_eq!(store.list_resting_sessions(node(), 1).await.unwrap().len(), 1);

    let all = [first.id, second.id, runs.id];
    assert!(!store.has_snapshot_of(&all, SnapshotReason::Sandbox).await.unwrap());
    let mut back = new_snapshot(&second, &[]);
    back.reason = SnapshotReason::Sandbox;
    store.create_snapshot(back).await.unwrap();
    assert!(store.has_snapshot_of(&all, SnapshotReason::Sandbox).await.unwrap());
    assert!(!store.has_snapshot_of(&[first.id], SnapshotReason::Sandbox).await.unwrap());
}

#[tokio::test]
async fn parts_are_opened_where_their_reader_likes() {
    let fixture = Fixture::open(Engine::Sqlite).await;
    let mail = fixture.session("mail").await;
    let parts: Vec<_> =
        (0..250).map(|at| cookies(&format!("app{at}.test"), at.to_string().as_bytes())).collect();
    let stored = fixture.snapshot(&mail, &parts).await;
    let sealed = fixture.store.fetch_sealed_parts(&Owner::local(), &stored.parts).await.unwrap();
    let opened = std::thread::spawn(move || sealed.open()).join().unwrap();
    let mut opened: Vec<_> = opened.into_iter().map(Result::unwrap).collect();
    opened.sort_by_key(|part| parts.iter().position(|one| one.name == part.name));
    assert_eq!(opened, parts);
}
