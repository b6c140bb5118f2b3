//! What a profile holds while no browser runs on it is read as its pages wrote it.

use crate::fixture::evaluate;
use crate::site::{Page, Site};
use crate::story::{Running, key_of, profile};
use baton_browser::profile::AtRest;
use baton_session::{Entries, Text};

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

#[test]
fn a_profile_that_cannot_be_read_holds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(AtRest::read(folder.path()).local_storage(&key_of("http://a.test/")), None);
    let database = folder.path().join("Default/Local Storage/leveldb");
    std::fs::create_dir_all(&database).unwrap();
    for (name, bytes) in [("CURRENT", "MANIFEST-000001\n"), ("MANIFEST-000001", "no manifest")] {
        std::fs::write(database.join(name), bytes).unwrap();
    }
    std::fs::write(folder.path().join("Default/Cookies"), "no cookies").unwrap();
    assert_eq!(AtRest::read(folder.path()).local_storage(&key_of("http://a.test/")), None);
}
