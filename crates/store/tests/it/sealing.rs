//! What lies on the disk tells nothing of what a browser held.

use crate::fixture::{Engine, Fixture, cookies, next_instant};
use crate::shared::commit;
use crate::written_by::Writer;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{Epoch, Receipt};
use baton_store::{CommitShared, StoredIdentity};
use zeroize::Zeroizing;

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

/// Names and addresses of peers may be read; what opens something may not, nor what is shared.
#[tokio::test]
async fn keys_credentials_and_revisions_are_nowhere_on_the_disk() {
    let fixture = Fixture::open(Engine::Sqlite).await;
    let (store, made) = (&fixture.store, fixture.session("mail").await);
    let laptop = crate::peers::peer("laptop", 1);
    store.create_peer(&laptop).await.unwrap();
    let identity = StoredIdentity {
        node: laptop.node,
        place: "/somewhere".to_owned(),
        epoch: Epoch::new([1; 8]),
        seed: Zeroizing::new(*b"a seed of thirty-two whole bytes"),
        seal_secret: "AGE-SECRET-KEY-1".to_owned().into(),
    };
    store.create_identity(&identity, None).await.unwrap();
    let mut writer = Writer::new(&made);
    let (written, shared) = (writer.edit("first"), writer.shared());
    let entry = b"entry: hunter2".to_vec();
    let change = CommitShared { entry, ..commit(&made, None, &shared) };
    store.commit_shared(change).await.unwrap();
    let part = cookies("private-site.example", b"a cookie of theirs");
    crate::staged::stage(&fixture, &made, std::slice::from_ref(&part)).await;

    let disk = read_folder(&fixture);
    for known in ["laptop.example", "/somewhere", &laptop.key.to_string()] {
        assert!(holds(&disk, known), "{known}: what is not secret is found, so the search works");
    }
    let checksum = written.checksum.to_string();
    for secret in [
        "the-credential",
        "thirty-two",
        "AGE-SECRET",
        "hunter2",
        "private-site",
        "theirs",
        &checksum,
    ] {
        assert!(!holds(&disk, secret), "{secret} is on the disk");
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
