//! A receipt counts everything, and three thousand cookies are a few lines.

use baton_session::Receipt;
use baton_session::receipt::{ItemKind, ReceiptItem, Source};
use std::fmt::Write;

fn receipt() -> Receipt {
    let mut receipt = Receipt::default();
    for nth in 0..3000 {
        let host = if nth % 3 == 0 { ".app.test" } else { "www.app.test" };
        receipt.push(ReceiptItem::restored(ItemKind::Cookie, format!("{host}/ c{nth}")));
    }
    receipt.push(ReceiptItem::rejected(ItemKind::Cookie, "app.test/ old", "it expired"));
    let place = "https://app.test/ notes";
    let disk =
        ReceiptItem { source: Source::Disk, ..ReceiptItem::restored(ItemKind::IndexedDb, place) };
    receipt.push(disk);
    receipt.push(ReceiptItem::not_portable(ItemKind::IndexedDb, place, "a CryptoKey"));
    receipt.push(ReceiptItem::pending(
        ItemKind::SessionStorage,
        "https://b.test/",
        "not shown yet",
    ));
    receipt
}

#[test]
fn a_receipt_reads_as_a_short_table() {
    let mut table = String::new();
    for group in receipt().groups() {
        let reason = group.reason.as_deref().unwrap_or("-");
        let (outcome, source) = (group.outcome, group.source);
        writeln!(
            table,
            "{} | {} | {} | {outcome:?} | {source:?} | {:?} | {reason}",
            group.kind, group.place, group.count, group.verified
        )
        .unwrap();
    }
    insta::assert_snapshot!(table, @r"
    cookie | app.test | 3000 | Restored | Snapshot | Page | -
    cookie | app.test | 1 | Rejected | Snapshot | None | it expired
    session_storage | https://b.test/ | 1 | Pending | Snapshot | None | not shown yet
    indexed_db | https://app.test/ notes | 1 | Restored | Disk | Page | -
    indexed_db | https://app.test/ notes | 1 | NotPortable | Snapshot | None | a CryptoKey
    ");
}

#[test]
fn every_item_is_counted_once() {
    let receipt = receipt();
    let counts = [receipt.restored, receipt.rejected, receipt.not_portable, receipt.pending];
    assert_eq!(counts, [3001, 1, 1, 1]);
    assert_eq!(counts.iter().sum::<usize>(), receipt.items.len());
    assert_eq!(receipt.groups().iter().map(|group| group.count).sum::<usize>(), 3004);
    assert!(receipt.has_losses());
    assert_eq!(receipt.losses().count(), 2);
    let mut twice = receipt.clone();
    twice.extend(receipt.clone());
    assert_eq!(twice.restored, 6002);
    let json = serde_json::to_string(&receipt).unwrap();
    assert_eq!(serde_json::from_str::<Receipt>(&json).unwrap(), receipt);
}

#[test]
fn what_waits_is_no_loss() {
    let mut receipt = Receipt::default();
    receipt.push(ReceiptItem::pending(ItemKind::Tab, "https://app.test/", "not opened yet"));
    assert!(!receipt.has_losses());
}
