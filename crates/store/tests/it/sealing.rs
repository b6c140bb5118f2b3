//! What lies on the disk tells nothing of what a browser held.

use crate::fixture::{Engine, Fixture, cookies, next_instant};
use baton_session::Receipt;
use baton_session::receipt::{ItemKind, ReceiptItem};

/// The folder of a SQLite database, searched byte by byte, with its log still there and without.
#[tokio::test]
async fn a_secret_and_the_name_of_its_site_are_nowhere_on_the_disk() {
    let fixture = Fixture::open(Engine::Sqlite).await;
    let made = fixture.session("visible-name").await;
    let bytes = br#"{"session":"hunter2-the-secret"}"#;
    let stored = fixture.snapshot(&made, &[cookies("private-site.example", bytes)]).await;
    let mut receipt = Receipt::default();
    receipt.push(ReceiptItem::restored(ItemKind::Cookie, "sid of private-site.example"));
    fixture.store.create_receipt(made.id, stored.id, next_instant(), &receipt).await.unwrap();

    for closed in [false, true] {
        if closed {
            fixture.store.close().await;
        }
        let disk = read_folder(&fixture);
        assert!(holds(&disk, "visible-name"), "what is not secret is found, so the search works");
        let hash = stored.parts[0].hash.to_string();
        for secret in ["hunter2", "private-site", "sid of", hash.as_str()] {
            assert!(!holds(&disk, secret), "{secret} is on the disk (closed: {closed})");
        }
    }
}

/// The same part stored twice is one row; after it was collected and stored again, its blob differs.
#[tokio::test]
async fn a_part_is_sealed_differently_each_time() {
    let fixture = Fixture::open(Engine::Sqlite).await;
    let made = fixture.session("mail").await;
    let part = cookies("a.example", b"same");
    let mut seen = Vec::new();
    for _ in 0..2 {
        fixture.snapshot(&made, std::slice::from_ref(&part)).await;
        let mut raw = fixture.raw().await;
        let row: (String, Vec<u8>) =
            sqlx::query_as("select id, sealed from parts").fetch_one(&mut raw).await.unwrap();
        seen.push(row);
        fixture.snapshot(&made, &[]).await;
        fixture.store.prune_snapshots(made.id, 1).await.unwrap();
        assert_eq!(fixture.count("parts").await, 0);
    }
    assert_eq!(seen[0].0, seen[1].0);
    assert_ne!(seen[0].1, seen[1].1);
}

fn read_folder(fixture: &Fixture) -> Vec<u8> {
    let files = std::fs::read_dir(fixture.folder.path()).unwrap();
    files.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
}

fn holds(disk: &[u8], text: &str) -> bool {
    disk.windows(text.len()).any(|window| window == text.as_bytes())
}
