//! What a profile holds while no browser runs on it is read as its pages wrote it.

use crate::fixture::{evaluate, eventually};
use crate::profiles::until_free;
use crate::site::{Page, Site};
use crate::story::{Running, browser, key_of, local, profile};
use baton_browser::keeper::Role;
use baton_browser::profile::AtRest;
use baton_browser::profile::at_rest::Instant;
use baton_browser::restore::{Ground, Made, restore};
use baton_session::cookie::Expiry;
use baton_session::receipt::ItemKind;
use baton_session::{Entries, Receipt, Text};

/// Writes texts of every form that Chromium stores in another way.
const WRITE: &str = r"
    const texts = [['', 'empty key'], ['latin', 'é'], ['wide', '漢字'], ['lone', '\ud800'],
        ['nul', 'a\0b'], ['gone', 'x'], ['large', 'x'.repeat(100_000)]];
    for (const [key, value] of texts) localStorage.setItem(key, value);
    localStorage.removeItem('gone');
    localStorage.length";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_profile_is_read_without_a_browser() {
    let (_folder, profile) = profile();
    let site = Site::builder().page("/", Page::html("")).start().await;
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    assert_eq!(evaluate(&page, WRITE).await, 6);
    running.kept.close().await;

    let found = AtRest::read(&profile);
    let expected: Entries = [
        (Text::from(""), Text::from("empty key")),
        (Text::from("latin"), Text::from("é")),
        (Text::from("wide"), Text::from("漢字")),
        (Text::from("lone"), Text::from_utf16(&[0xd800])),
        (Text::from("nul"), Text::from("a\0b")),
        (Text::from("large"), Text::from("x".repeat(100_000))),
    ]
    .into_iter()
    .collect();
    assert_eq!(found.local_storage(&key_of(&url)), Some(&expected));
}

/// What of a profile could not be read, as lines.
fn unread(receipt: &Receipt) -> Vec<String> {
    let of_profile = receipt.items.iter().filter(|item| item.kind == ItemKind::Snapshot);
    of_profile
        .map(|item| {
            format!("{:?} {}: {}", item.outcome, item.place, item.reason.as_deref().unwrap_or(""))
        })
        .collect()
}

#[test]
fn a_profile_that_cannot_be_read_holds_nothing_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let empty = AtRest::read(folder.path());
    assert_eq!(empty.local_storage(&key_of("http://a.test/")), None);
    assert_eq!(unread(empty.unread()), Vec::<String>::new());
    let database = folder.path().join("Default/Local Storage/leveldb");
    std::fs::create_dir_all(&database).unwrap();
    for (name, bytes) in [("CURRENT", "MANIFEST-000001\n"), ("MANIFEST-000001", "no manifest")] {
        std::fs::write(database.join(name), bytes).unwrap();
    }
    std::fs::write(folder.path().join("Default/Cookies"), "no cookies").unwrap();
    let damaged = AtRest::read(folder.path());
    assert_eq!(damaged.local_storage(&key_of("http://a.test/")), None);
    let lines = unread(damaged.unread()).join("\n");
    insta::assert_snapshot!(lines.replace(folder.path().to_str().unwrap(), "here"), @r"
    Restored the profile's localStorage: expected a whole LevelDB, found in here/Default/Local Storage/leveldb/MANIFEST-000001 a manifest without an entry; the snapshot stands for it, and what was later is lost
    Restored the profile's cookies: expected a whole SQLite database, found one that cannot be read: file is not a database; the snapshot stands for it, and what was later is lost
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resume_says_what_of_the_profile_it_could_not_read() {
    let (_folder, profile) = profile();
    let site = Site::builder().page("/", Page::html("")).start().await;
    let url = site.url("a", "/");
    let running = Running::start(&profile).await;
    let page = running.open(&url).await;
    evaluate(&page, "localStorage.setItem('kept', 'yes')").await;
    eventually("it is told", async || local(&running.changed().await, &url, "kept").is_some())
        .await;
    let state = running.capture().await;
    running.kept.close().await;
    until_free(&profile).await;
    std::fs::remove_file(profile.join("Default/Local Storage/leveldb/CURRENT")).unwrap();

    let taken_at = Instant(jiff::Timestamp::now().as_microsecond());
    let at_rest = AtRest::read(&profile);
    let made = Made::default();
    let ground = Ground { at_rest, taken_at, same_boot: true, is_compiled: false, made };
    let kept = browser(&profile).await;
    let link = kept.connect(Role::Node).await;
    let restored = restore(link, state.clone(), Expiry(taken_at.0), Some(&ground)).await.unwrap();
    let lines = unread(&restored.receipt).join("\n");
    insta::assert_snapshot!(lines.replace(profile.to_str().unwrap(), "here"), @"Restored the profile's localStorage: expected a whole LevelDB in here/Default/Local Storage/leveldb, found one without the file CURRENT, which names its parts; the snapshot stands for it, and what was later is lost");
    assert!(!restored.receipt.has_losses(), "the snapshot stands for it");
    let running = Running::watch(kept, &profile, restored.state).await;
    assert_eq!(running.capture().await.origins, state.origins);
    running.kept.close().await;
}
