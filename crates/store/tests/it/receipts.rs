//! Receipts: the last one counts, and it is read back whole.

use crate::fixture::{Engine, Fixture, new_snapshot, next_instant};
use baton_session::Receipt;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_store::StoreError;
use rstest::rstest;

#[rstest]
#[tokio::test]
async fn the_receipt_stored_last_is_the_latest(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let made = fixture.session("mail").await;
    let stored = fixture.snapshot(&made, &[]).await;
    assert_eq!(store.latest_receipt(made.id).await.unwrap(), None);
    let (early, late) = (next_instant(), next_instant());
    store.create_receipt(made.id, stored.id, late, &receipt("pending")).await.unwrap();
    store.create_receipt(made.id, stored.id, early, &receipt("complete")).await.unwrap();
    assert_eq!(store.latest_receipt(made.id).await.unwrap(), Some(receipt("complete")));

    let unknown = new_snapshot(&made, &[]).id;
    let lost = store.create_receipt(made.id, unknown, late, &receipt("lost")).await;
    assert!(
        matches!(lost, Err(StoreError::SnapshotNotFound { reference }) if reference == unknown.to_string())
    );
}

#[rstest]
#[tokio::test]
async fn a_hundred_receipts_are_kept_and_outlive_their_snapshots(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let fixture = Fixture::open(engine).await;
    let store = &fixture.store;
    let made = fixture.session("mail").await;
    let stored = fixture.snapshot(&made, &[]).await;
    for number in 0..103 {
        let receipt = receipt(&number.to_string());
        store.create_receipt(made.id, stored.id, next_instant(), &receipt).await.unwrap();
    }
    assert_eq!(fixture.count("receipts").await, 100);
    let newer = fixture.snapshot(&made, &[]).await;
    store.create_receipt(made.id, newer.id, next_instant(), &receipt("103")).await.unwrap();
    assert_eq!(store.prune_snapshots(made.id, 1).await.unwrap(), 1);
    assert_eq!(fixture.count("receipts").await, 100);
    assert_eq!(store.latest_receipt(made.id).await.unwrap(), Some(receipt("103")));
}

fn receipt(place: &str) -> Receipt {
    let mut receipt = Receipt::default();
    receipt.push(ReceiptItem::restored(ItemKind::Cookie, place));
    receipt.push(ReceiptItem::rejected(ItemKind::Tab, place, "it was refused"));
    receipt
}
