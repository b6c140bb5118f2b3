//! Who listens is told which sessions changed, and finds those that rest.

use crate::fixture::{Engine, Fixture, close, cookies, new_snapshot, node, session};
use baton_session::{Lifecycle, Owner, SessionId, SnapshotReason};
use baton_store::StoreError;
use rstest::rstest;
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
}

#[rstest]
#[tokio::test]
async fn a_mark_says_whether_sessions_are_others_than_before(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let (store, owner) = (&fixture.store, Owner::local());
    let mark = async || store.sessions_mark(&owner, node()).await.unwrap();
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
    assert_eq!(store.sessions_mark(&"bob".parse().unwrap(), node()).await.unwrap(), marks[0]);
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
