//! A clock that jumps, forward a day or back an hour, loses nothing: what is newest, what is pruned
//! and what is valid follow the order in which things were stored.

use crate::fixture::{Engine, Fixture, cookies, new_snapshot, next_instant, node, random};
use baton_session::{Lifecycle, Owner, Receipt, Scope, Session, SnapshotId};
use baton_store::{ApiKey, NewSnapshot, Snapshot};
use jiff::{SignedDuration, Timestamp};
use rstest::rstest;

/// The true time, a day ahead, the true time again, an hour behind.
fn jumps() -> [Timestamp; 4] {
    let (day, hour) = (SignedDuration::from_hours(24), SignedDuration::from_hours(1));
    [next_instant(), next_instant() + day, next_instant(), next_instant() - hour]
}

/// Stores a snapshot at an instant; what it holds tells the instant.
async fn snapshot(fixture: &Fixture, session: &Session, at: Timestamp) -> Snapshot {
    let part = cookies("shop.example", &at.as_millisecond().to_be_bytes());
    let id = SnapshotId::new(at, random());
    let new = NewSnapshot { id, taken_at: at, ..new_snapshot(session, &[part]) };
    fixture.store.create_snapshot(new).await.unwrap()
}

#[rstest]
#[tokio::test]
async fn the_newest_snapshot_is_the_one_that_was_stored_last(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let made = fixture.session("shop").await;
    let mut stored = Vec::new();
    for at in jumps() {
        stored.push(snapshot(&fixture, &made, at).await);
        let newest = stored.last().cloned();
        assert_eq!(store.latest_snapshot(made.id).await.unwrap(), newest);
        assert_eq!(store.last_good_snapshot(made.id).await.unwrap(), newest);
    }
    stored.reverse();
    assert_eq!(store.list_snapshots(made.id, None, 10).await.unwrap(), stored);
    // Pruning takes the one of a day ahead before those that were stored after it.
    assert_eq!(store.prune_snapshots(made.id, 2).await.unwrap(), 2);
    assert_eq!(store.list_snapshots(made.id, None, 10).await.unwrap(), stored[..2]);
    let part = store.fetch_part(&made.owner, &stored[0].parts[0]).await.unwrap();
    assert_eq!(part.reference(), stored[0].parts[0]);
}

#[rstest]
#[tokio::test]
async fn the_latest_receipt_is_the_one_that_was_stored_last(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("shop").await;
    let taken = snapshot(&fixture, &made, next_instant()).await;
    for (restored, at) in jumps().into_iter().enumerate() {
        let receipt = Receipt { restored, ..Receipt::default() };
        fixture.store.create_receipt(made.id, taken.id, at, &receipt).await.unwrap();
        assert_eq!(fixture.store.latest_receipt(made.id).await.unwrap(), Some(receipt));
    }
}

#[rstest]
#[tokio::test]
async fn a_key_is_valid_from_its_making_to_its_revocation(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let [now, ahead, _, behind] = jumps();
    for (number, (made, revoked)) in
        [(ahead, now), (now, behind), (behind, ahead)].into_iter().enumerate()
    {
        let (id, hash) = (format!("k{number}"), [u8::try_from(number).unwrap(); 32]);
        let key = ApiKey {
            id: id.clone(),
            name: id.clone(),
            owner: Owner::local(),
            scopes: [Scope::Read].into(),
            created_at: made,
            revoked_at: None,
            for_node: None,
        };
        fixture.store.create_key(&key, hash).await.unwrap();
        assert_eq!(fixture.store.find_key(hash).await.unwrap().unwrap().key, key);
        fixture.store.revoke_key(&Owner::local(), &id, revoked).await.unwrap();
        assert_eq!(fixture.store.find_key(hash).await.unwrap(), None);
    }
}

#[rstest]
#[tokio::test]
async fn a_session_moves_on_whenever_it_was_last_changed(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let made = fixture.session("shop").await;
    let (mut from, mut to) = (Lifecycle::Active, Lifecycle::Recoverable);
    for at in jumps() {
        let moved = fixture.store.update_lifecycle(made.id, node(), from, to, at).await.unwrap();
        assert_eq!((moved.lifecycle, moved.updated_at), (to, at));
        (from, to) = (to, from);
    }
}
