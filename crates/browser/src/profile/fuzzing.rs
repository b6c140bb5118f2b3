//! Doors for the fuzz targets: a profile's files, with whatever bytes.

#![allow(clippy::expect_used, clippy::missing_panics_doc, reason = "a target fails by panicking")]

use super::formats::Instant;
use super::{cookies, leveldb};
use baton_session::cookie::Expiry;
use baton_session::{Cookie, Receipt};
use std::fs;
use std::fs::File;
use std::path::Path;
use std::time::UNIX_EPOCH;
use tempfile::TempDir;

/// When the cookies that are written again are set.
const NOW: i64 = 1_800_000_000_000_000;

/// A database of a manifest, a table and a log; before the first two stand their lengths, in two
/// bytes each.
fn leveldb_files(input: &[u8]) -> Option<[(&'static str, &[u8]); 4]> {
    let (lengths, files) = input.split_first_chunk::<4>()?;
    let manifest = usize::from(u16::from_be_bytes([lengths[0], lengths[1]]));
    let table = usize::from(u16::from_be_bytes([lengths[2], lengths[3]]));
    let (manifest, files) = files.split_at_checked(manifest)?;
    let (table, log) = files.split_at_checked(table)?;
    Some([
        ("CURRENT", b"MANIFEST-000001\n"),
        ("MANIFEST-000001", manifest),
        ("000002.ldb", table),
        ("000003.log", log),
    ])
}

/// A database of `leveldb_files`: what is read of it can be written and read again.
pub fn leveldb(input: &[u8]) {
    let Some(files) = leveldb_files(input) else { return };
    let folder = folder();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).expect("a file is written");
    }
    let Ok(Some(found)) = leveldb::read(folder.path()) else { return };
    let other = self::folder();
    let pairs = found.rows.iter().map(|(key, value)| (key.as_slice(), value.as_slice()));
    leveldb::write(other.path(), pairs).expect("rows that were read are written");
    let again = leveldb::read(other.path()).expect("ours is read").expect("it is there");
    assert!(again.lost.is_none(), "of ours something was lost: {}", again.lost);
    assert_eq!(again.rows, found.rows);
}

/// A cookie store as it lies on a disk: what a browser would take of it can be written, and is read
/// again as the same cookies in the same order.
pub fn cookie_store(input: &[u8]) {
    let folder = folder();
    let store = folder.path().join("store");
    fs::write(&store, input).expect("a file is written");
    let Some((found, _)) = read(&store) else { return };
    let (usable, _) = cookies::usable(&found, Expiry(NOW));
    let again = folder.path().join("again");
    cookies::create(&again, &usable, Instant(NOW)).expect("usable cookies are written");
    let (read, left_out) = read(&again).expect("ours is read");
    assert!(left_out.items.is_empty(), "of ours {left_out:?} was left out");
    assert_eq!(read, usable);
}

/// Reads a store whose encrypted values are texts that were never encrypted.
fn read(store: &Path) -> Option<(Vec<Cookie>, Receipt)> {
    // It waits until a file has not been written for a moment.
    let file = File::options().write(true).open(store).expect("the store is there");
    file.set_modified(UNIX_EPOCH).expect("its time is set");
    let plain = |bytes: &[u8], _: &str, _| {
        String::from_utf8(bytes.to_vec()).map_err(|_| "no text".to_owned())
    };
    let found = cookies::read(store, plain).ok().flatten()?;
    Some((found.cookies, found.left_out))
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}
