//! What is absent is empty, and what is damaged is not: a database that cannot be read is told, one that is
//! damaged in the middle is read on, and what lies where no browser looks has its line.

use super::place::{Place, state};
use super::{losses, read_plain, times, until_free};
use crate::fixture::{evaluate, shows};
use crate::site::{Page, Site};
use crate::story::{Running, key_of, profile};
use baton_browser::profile::compile::merge;
use rusty_leveldb::{CompressorId, DB, Options, compressor};
use std::fs;
use std::io::Read;
use std::path::Path;

/// Writes a `LevelDB` as a browser does that was killed: everything is in its log.
fn log(folder: &Path, rows: impl Iterator<Item = (Vec<u8>, Vec<u8>)>) {
    let (there, compressor) = (Path::new("db"), compressor::NoneCompressor::ID);
    let options = Options { compressor, write_buffer_size: 64 << 20, ..rusty_leveldb::in_memory() };
    let mut database = DB::open(there, options.clone()).unwrap();
    for (key, value) in rows {
        database.put(&key, &value).unwrap();
    }
    database.close().unwrap();
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).unwrap();
    for name in options.env.children(there).unwrap() {
        let mut bytes = Vec::new();
        let mut file = options.env.open_sequential_file(&there.join(&name)).unwrap();
        file.read_to_end(&mut bytes).unwrap();
        fs::write(folder.join(name), bytes).unwrap();
    }
}

/// Entries of localStorage, a hundred in each block of the log.
fn entries(origin: &str, count: usize) -> impl Iterator<Item = (Vec<u8>, Vec<u8>)> {
    let entry = move |number| {
        let key = format!("_{origin}\0\x01{number:04}");
        (key.into_bytes(), [b"\x01".to_vec(), vec![b'x'; 280]].concat())
    };
    std::iter::once((b"VERSION".to_vec(), b"1".to_vec())).chain((0..count).map(entry))
}

/// The only log in a folder.
fn log_of(place: &Place, folder: &str) -> String {
    let mut paths = fs::read_dir(place.at(folder)).unwrap().map(|entry| entry.unwrap().path());
    let log = paths.find(|path| path.extension().is_some_and(|end| end == "log")).unwrap();
    format!("{folder}/{}", log.file_name().unwrap().to_str().unwrap())
}

#[test]
fn a_database_without_the_file_that_names_its_parts_is_not_empty() {
    let place = Place::with_leveldb();
    fs::remove_file(place.at("Local Storage/leveldb/CURRENT")).unwrap();
    fs::create_dir(place.at("Session Storage")).unwrap();
    fs::write(place.at("Session Storage/000003.log"), "").unwrap();
    insta::assert_snapshot!(place.both(), @r"
    local_storage all localStorage: expected a whole LevelDB in here/profile/Default/Local Storage/leveldb, found one without the file CURRENT, which names its parts
    session_storage all sessionStorage: expected a whole LevelDB in here/profile/Default/Session Storage, found one without the file CURRENT, which names its parts
    could not read the localStorage of here/profile: expected a whole LevelDB in here/profile/Default/Local Storage/leveldb, found one without the file CURRENT, which names its parts
    ");
    for name in ["MANIFEST-000001", "000002.ldb"] {
        fs::remove_file(place.at("Local Storage/leveldb").join(name)).unwrap();
    }
    fs::remove_file(place.at("Session Storage/000003.log")).unwrap();
    fs::write(place.at("Local Storage/leveldb/LOCK"), "").unwrap();
    assert_eq!(place.read(), "", "a folder that a browser has only begun");
}

#[test]
fn behind_damage_in_the_middle_everything_is_read() {
    let place = Place::with_leveldb();
    log(&place.at("Local Storage/leveldb"), entries("https://app.test", 1000));
    assert_eq!(place.read(), "");
    let file = log_of(&place, "Local Storage/leveldb");
    place.change(&file, |bytes| bytes[100_000] ^= 1);
    insta::assert_snapshot!(place.both(), @r"
    local_storage 2 damaged places: expected a whole LevelDB, found 31392 bytes damaged, first in 000003.log a record whose checksum is another; what is behind was read, as a browser does: entries may be missing, or be older
    could not read the localStorage of here/profile: expected a whole LevelDB, found 31392 bytes damaged, first in 000003.log a record whose checksum is another
    ");
    let read = read_plain(&place.profile);
    let found = read.state.origins.values().map(|origin| origin.local_storage.len());
    let found: usize = found.sum();
    assert!((880..990).contains(&found), "{found}");
    assert!(read.fault.is_some(), "what is read is not what was there");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_read_of_a_damaged_database_is_what_the_browser_has() {
    let site = Site::builder().page("/", Page::html("")).start().await;
    let (place, url) = (Place::with_leveldb(), site.url("a", "/"));
    log(&place.at("Local Storage/leveldb"), entries(url.trim_end_matches('/'), 1000));
    let file = log_of(&place, "Local Storage/leveldb");
    place.change(&file, |bytes| bytes[100_000] ^= 1);
    let read = read_plain(&place.profile).state;
    let found = read.origins[&key_of(&url)].local_storage.len();
    assert!((880..990).contains(&found), "{found}");
    let running = Running::start(&place.profile).await;
    let page = running.open(&url).await;
    assert_eq!(evaluate(&page, "localStorage.length").await, found);
    running.kept.close().await;
}

#[test]
fn a_session_storage_that_is_damaged_in_the_middle_is_read_on() {
    let place = Place::new();
    let namespace = "a".repeat(36);
    let named = (format!("namespace-{namespace}-https://app.test/").into_bytes(), b"1".to_vec());
    let strange = (b"map-1-odd".to_vec(), vec![7]);
    let entry = |number: usize| (format!("map-1-{number:04}").into_bytes(), vec![b'x'; 280]);
    log(&place.at("Session Storage"), [named, strange].into_iter().chain((0..400).map(entry)));
    let file = log_of(&place, "Session Storage");
    place.change(&file, |bytes| bytes[60_000] ^= 1);
    insta::assert_snapshot!(place.read(), @r"
    session_storage 1 entries: they are of a form that is not known
    session_storage 2 damaged places: expected a whole LevelDB, found 5634 bytes damaged, first in 000003.log a record whose checksum is another; what is behind was read, as a browser does: entries may be missing, or be older
    ");
}

/// Stores something of each kind that only a browser can read, in the page and in a frame of another site.
const STORE: &str = "(async () => {
    const cache = await caches.open('shell');
    await cache.put('/kept', new Response('kept'));
    const root = await navigator.storage.getDirectory();
    const file = await (await root.getFileHandle('note', { create: true })).createWritable();
    await file.write('kept');
    await file.close();
    if (top === self) await navigator.serviceWorker.register('/worker.js');
    await new Promise(done => {
        const opening = indexedDB.open('mail', 1);
        opening.onupgradeneeded = () =>
            opening.result.createObjectStore('box').put(new Blob(['x'.repeat(90000)]), 1);
        opening.onsuccess = () => { opening.result.close(); done(); };
    });
    document.title = 'stored';
})()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_a_browser_can_read_is_named_with_its_owner() {
    let frame = "<iframe src='http://b.localhost:{port}/frame'></iframe>";
    let stores = format!("<script>{STORE}.then(() => parent.postMessage('stored', '*'))</script>");
    let site = Site::builder()
        .page("/", Page::html(format!("<script>onmessage = () => got = 1</script>{frame}")))
        .page("/frame", Page::html(stores))
        .page("/worker.js", Page::script("onfetch = () => {}"))
        .start()
        .await;
    let (_folder, profile) = profile();
    let running = Running::start(&profile).await;
    let page = running.open(&site.url("a", "/")).await;
    evaluate(&page, STORE).await;
    shows(&page, "globalThis.got === 1", true).await;
    running.kept.close().await;
    until_free(&profile).await;
    let told = || {
        let lines = losses(&read_plain(&profile).left_out).join("\n");
        let port = site.url("a", "/").replace("http://a.localhost", "");
        let lines = lines.replace(&port, "/").replace(profile.to_str().unwrap(), "here");
        // In which order the browser numbered the two is not ours to say.
        lines.replace("WebStorage/1", "WebStorage/N").replace("WebStorage/2", "WebStorage/N")
    };
    insta::assert_snapshot!(told(), @r"
    indexed_db http://a.localhost/: only a browser can read it: open the profile in one, and use baton attach
    indexed_db http://b.localhost/^0http://a.localhost: only a browser can read it: open the profile in one, and use baton attach
    cache http://a.localhost/: only a browser can read it: open the profile in one, and use baton attach
    cache http://b.localhost/^0http://a.localhost: only a browser can read it: open the profile in one, and use baton attach
    files http://a.localhost/: only a browser can read it: open the profile in one, and use baton attach
    files http://b.localhost/^0http://a.localhost: only a browser can read it: open the profile in one, and use baton attach
    service_worker http://a.localhost/: only a browser can read it: open the profile in one, and use baton attach
    ");
    for name in ["Service Worker/Database", "File System/Origins"] {
        fs::remove_file(profile.join("Default").join(name).join("CURRENT")).unwrap();
    }
    fs::remove_file(profile.join("Default/WebStorage/QuotaManager")).unwrap();
    insta::assert_snapshot!(told(), @r"
    indexed_db WebStorage/N: only a browser can read it: open the profile in one, and use baton attach
    indexed_db http://a.localhost/: only a browser can read it: open the profile in one, and use baton attach
    cache WebStorage/N: only a browser can read it: open the profile in one, and use baton attach
    cache http://a.localhost/: only a browser can read it: open the profile in one, and use baton attach
    files WebStorage/N: only a browser can read it: open the profile in one, and use baton attach
    files all files: expected a whole LevelDB in here/Default/File System/Origins, found one without the file CURRENT, which names its parts
    service_worker all service workers: expected a whole LevelDB in here/Default/Service Worker/Database, found one without the file CURRENT, which names its parts
    ");
}

#[test]
fn what_may_not_be_looked_at_is_not_absent() {
    // A loop is not absent either, and root may look at everything else.
    let place = Place::with_leveldb();
    for name in ["Cookies", "Session Storage", "Sessions", "SessionStorage", "LocalStorage"] {
        let path = place.at(name);
        let _ = fs::remove_file(&path);
        std::os::unix::fs::symlink(&path, &path).unwrap();
    }
    insta::assert_snapshot!(place.read(), @r"
    cookie all cookies: Too many levels of symbolic links (os error 40)
    local_storage all localStorage: Too many levels of symbolic links (os error 40)
    session_storage all sessionStorage: Too many levels of symbolic links (os error 40)
    tab all tabs: Too many levels of symbolic links (os error 40)
    ");
}

#[test]
fn cookies_are_read_where_a_browser_has_them() {
    let place = Place::new();
    fs::create_dir(place.at("Network")).unwrap();
    for name in ["Cookies", "Cookies-journal"] {
        let _ = fs::rename(place.at(name), place.at("Network").join(name));
    }
    let cookies = || {
        let state = read_plain(&place.profile).state;
        state.cookies.into_iter().map(|cookie| cookie.name).collect::<Vec<_>>()
    };
    assert_eq!((cookies(), place.read().as_str()), (vec!["old".to_owned()], ""));
    merge(&state("new", "2"), &place.profile, times()).unwrap();
    assert_eq!(cookies().len(), 2);
    assert!(!place.at("Cookies").exists(), "where nobody would read it");

    // A second one beside it: without the mark of a browser that moved them, the old place counts.
    fs::copy(Place::new().at("Cookies"), place.at("Cookies")).unwrap();
    insta::assert_snapshot!(place.read(), @"cookie 2 cookies in the folder Network: a browser reads those in Cookies, and never these");
    assert_eq!(cookies(), ["old"]);
    fs::write(place.at("Network/NetworkDataMigrated"), "").unwrap();
    insta::assert_snapshot!(place.read(), @"cookie 1 cookie outside of the folder Network: a browser reads those in Network/Cookies, and never these");
    assert_eq!(cookies().len(), 2);
    merge(&state("third", "3"), &place.profile, times()).unwrap();
    assert_eq!(cookies().len(), 3);
    assert_eq!(losses(&read_plain(&place.profile).left_out).len(), 1, "the other one stays");
}
