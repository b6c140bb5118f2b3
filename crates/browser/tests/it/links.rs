//! What a browser left in its profile leads nowhere for who works with the profile when it has ended.

use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::{AtRest, Note, certificates, drop_older, keep, permissions, raw};
use baton_session::stored::{FileContent, FileEntry};
use baton_session::{Certificate, StorageKey, Term};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

const SECRET: &str = "the-secret-of-another";
const OWN: &str = "https_app.test_0.indexeddb.leveldb";

/// Folders of a profile that are read, written, copied or emptied.
const FOLDERS: [&str; 12] = [
    "Default",
    "Default/IndexedDB",
    "Default/IndexedDB/https_app.test_0.indexeddb.leveldb",
    "Default/Local Storage",
    "Default/Local Storage/leveldb",
    "Default/Session Storage",
    "Default/Network",
    "Default/Service Worker",
    "Default/File System",
    "Default/WebStorage",
    "Default/Sessions",
    "Default/shared_proto_db",
];

/// Files that are opened where they are.
const FILES: [&str; 8] = [
    "Local State",
    "Default/Preferences",
    "Default/Cookies",
    "Default/ServerCertificate",
    "Default/ServerCertificate-journal",
    "Default/LocalStorage",
    "Default/LocalStorage-wal",
    "Default/Local Storage/leveldb/CURRENT",
];

/// Where links lead: a folder that has whatever is looked for in a profile.
fn others(folder: &Path) -> PathBuf {
    let other = folder.join("other");
    let names = ["", "IndexedDB/", "leveldb/", "Network/", "Local Storage/leveldb/"];
    for name in names {
        let below = other.join(name);
        fs::create_dir_all(below.join(OWN)).unwrap();
        for file in ["Cookies", "CURRENT", "Preferences", "Session_1", "LocalStorage", "a.log"] {
            fs::write(below.join(file), SECRET).unwrap();
        }
        fs::write(below.join(OWN).join("CURRENT"), SECRET).unwrap();
    }
    other
}

/// All files below a folder, with what is in them.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() {
                found.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    found
}

fn entry(bytes: &str) -> FileEntry {
    let path = vec![OWN.to_owned(), "CURRENT".to_owned()];
    FileEntry { path, content: FileContent::File { bytes: bytes.to_owned() } }
}

/// Everything that a resume does with a profile before its browser starts, and what undoes it.
fn resumes(profile: &Path) {
    let key = StorageKey::first_party("https://app.test");
    let issued = rcgen::generate_simple_self_signed(["a.test".to_owned()]).unwrap();
    let certificate = Certificate::of_der(issued.cert.der().to_vec()).unwrap();
    let kept = keep(profile).unwrap();
    drop_older(profile).unwrap();
    AtRest::read(profile);
    permissions::read(profile).unwrap();
    permissions::write(profile, &[], true, Instant(0)).unwrap();
    certificates::write(profile, &[certificate]).unwrap();
    assert_eq!(raw::read(profile, &key).unwrap(), []);
    assert!(raw::write(profile, &key, &[entry("")]).unwrap());
    kept.put_back().unwrap();
    kept.discard().unwrap();
}

/// A profile with a link in the place of `name`, which leads to what others have.
fn linked(folder: &Path, other: &Path, name: &str) -> PathBuf {
    let profile = folder.join("profile");
    let link = profile.join(name);
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(other, link).unwrap();
    profile
}

#[test]
fn no_folder_of_a_profile_is_read_or_written_where_a_link_leads() {
    for name in FOLDERS {
        let folder = tempfile::tempdir().unwrap();
        let other = others(folder.path());
        let before = files(&other);
        let profile = linked(folder.path(), &other, name);
        resumes(&profile);
        assert_eq!(files(&other), before, "{name} was written to");
        let read = files(folder.path()).into_iter().filter(|(path, _)| !path.starts_with(&other));
        for (path, bytes) in read {
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(SECRET), "{name} was read into {}", path.display());
        }
    }
}

#[test]
fn no_file_of_a_profile_is_read_or_written_where_a_link_leads() {
    for name in FILES {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("other");
        fs::write(&other, SECRET).unwrap();
        let profile = linked(folder.path(), &other, name);
        resumes(&profile);
        assert_eq!(fs::read_to_string(&other).unwrap(), SECRET, "{name}");
        assert!(
            fs::symlink_metadata(profile.join(name)).is_ok_and(|found| found.is_file())
                || !profile.join(name).exists(),
            "{name}"
        );
    }
}

#[test]
fn a_folder_that_became_a_link_gives_none_of_its_files_away() {
    let key = StorageKey::first_party("https://app.test");
    for name in &FOLDERS[..3] {
        let folder = tempfile::tempdir().unwrap();
        let other = others(folder.path());
        let before = files(&other);
        let profile = linked(folder.path(), &other, name);
        let read = raw::read(&profile, &key).unwrap_err().to_string();
        assert!(read.contains("expected a folder, found a link"), "{name}: {read}");
        // What has a folder already is left alone.
        assert!(!raw::write(&profile, &key, &[entry("")]).unwrap_or(false), "{name}");
        assert_eq!(files(&other), before, "{name}");
    }
}

#[test]
fn a_note_beside_a_running_browser_is_written_over_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other");
    fs::write(&other, SECRET).unwrap();
    for name in ["baton.json", "baton.json.new", "baton.new"] {
        symlink(&other, folder.path().join(name)).unwrap();
    }
    let note = Note::new(Term::from_i64(1), None);
    note.write(folder.path()).unwrap();
    assert_eq!(Note::read(folder.path()), Some(note));
    assert_eq!(fs::read_to_string(&other).unwrap(), SECRET);
}
