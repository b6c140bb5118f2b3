//! Archives that no backup of ours would be, sealed with the right key all the same.

use super::archive::Archive;
use super::error::BackupError;
use super::extract::extract;
use super::manifest::{FORMAT, Manifest};
use baton_store::{FileKey, MasterKey, SealedWriter};
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use tar::{EntryType, Header};

type Tar = tar::Builder<zstd::Encoder<'static, SealedWriter<File>>>;

fn key() -> FileKey {
    FileKey::Master(MasterKey::from_bytes([7; 32]))
}

/// A folder with an archive made by `fill`, and what comes of extracting it.
fn extracted(fill: impl FnOnce(&mut Tar)) -> (tempfile::TempDir, Result<Manifest, BackupError>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup");
    let sealed = SealedWriter::create(File::create(&path).unwrap(), &key()).unwrap();
    let mut tar = tar::Builder::new(zstd::Encoder::new(sealed, 0).unwrap());
    fill(&mut tar);
    tar.into_inner().unwrap().finish().unwrap().finish().unwrap();
    let outcome = extract(&path, &key(), &inside(&folder));
    (folder, outcome)
}

fn inside(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("data")
}

/// The name goes in as it is: the tar crate would refuse some of these.
fn add(tar: &mut Tar, name: &str, kind: EntryType, size: u64, bytes: impl Read) {
    let mut header = Header::new_gnu();
    header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_cksum();
    tar.append(&header, bytes).unwrap();
}

fn add_text(tar: &mut Tar, name: &str, text: &str) {
    add(tar, name, EntryType::Regular, text.len() as u64, text.as_bytes());
}

fn manifest() -> Manifest {
    Manifest {
        format: FORMAT,
        baton: "0.0.0".to_owned(),
        made_at: jiff::Timestamp::UNIX_EPOCH,
        node: None,
        schema: 1,
        sessions: 0,
        snapshots: 0,
        parts: 0,
        has_key: false,
        profiles: Vec::new(),
        left_out: Vec::new(),
        files: Vec::new(),
    }
}

#[test]
fn a_name_that_leads_elsewhere_is_refused() {
    let long = format!("sessions/01890000-0000-7000-8000-000000000000/{}x", "d/".repeat(25));
    for name in [
        "../evil",
        "/tmp/evil",
        "sessions/../../evil",
        "sessions/01890000-0000-7000-8000-000000000000/../../../evil",
        "sessions/elsewhere/evil",
        "node.id",
        "baton.toml",
        &long,
    ] {
        let (folder, outcome) = extracted(|tar| add_text(tar, name, "evil"));
        let error = outcome.unwrap_err();
        assert!(matches!(&error, BackupError::Damaged { .. }), "{name}: {error}");
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 1, "{name}: only the backup is there");
    }
}

#[test]
fn links_and_folders_are_refused() {
    for kind in [EntryType::Symlink, EntryType::Link, EntryType::Directory, EntryType::Fifo] {
        let (_folder, outcome) = extracted(|tar| add(tar, "baton.db", kind, 0, std::io::empty()));
        assert!(matches!(outcome, Err(BackupError::Damaged { .. })), "{kind:?}");
    }
}

#[test]
fn sizes_are_bounded_before_anything_is_written() {
    let (folder, outcome) = extracted(|tar| {
        add(tar, "baton.db", EntryType::Regular, 1 << 40, std::io::empty());
    });
    assert!(matches!(outcome, Err(BackupError::TooLarge)));
    assert!(!inside(&folder).exists());
    let (_folder, outcome) = extracted(|tar| {
        let much = 65 << 20;
        add(tar, "manifest.json", EntryType::Regular, much, std::io::repeat(b' ').take(much));
    });
    assert!(outcome.unwrap_err().to_string().contains("its manifest is too large"));
}

#[test]
fn what_describes_a_file_is_short() {
    // The library would take all of it into memory before it shows us the file.
    for kind in [EntryType::XHeader, EntryType::GNULongName] {
        let (_folder, outcome) = extracted(|tar| {
            let much = 65 << 20;
            add(tar, "baton.db", kind, much, std::io::repeat(b'x').take(much));
            add_text(tar, "baton.db", "rows");
        });
        let why = outcome.unwrap_err().to_string();
        assert!(why.contains("found a longer description"), "{kind:?}: {why}");
    }
}

#[test]
fn what_the_manifest_does_not_confirm_is_refused() {
    let text = serde_json::to_string(&manifest()).unwrap();
    let (rows, list) = (("baton.db", "rows"), ("manifest.json", text.as_str()));
    let cases: [(&str, &[(&str, &str)]); 4] = [
        ("its manifest is missing", &[rows]),
        ("its files are not those that its manifest names", &[rows, list]),
        ("its database or its key is missing", &[list]),
        ("baton.db stands behind the manifest", &[list, rows]),
    ];
    for (why, files) in cases {
        let (_folder, outcome) =
            extracted(|tar| files.iter().for_each(|(name, text)| add_text(tar, name, text)));
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains(why), "expected {why:?}, found {error}");
    }
}

#[test]
fn a_newer_layout_is_named() {
    let newer = Manifest { format: FORMAT + 1, ..manifest() };
    let text = serde_json::to_string(&newer).unwrap();
    let (_folder, outcome) = extracted(|tar| add_text(tar, "manifest.json", &text));
    let error = outcome.unwrap_err();
    assert!(matches!(&error, BackupError::Newer { found: 2, .. }), "{error}");
}

#[test]
fn what_an_archive_takes_it_gives_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("backup");
    let database = folder.path().join("rows");
    std::fs::write(&database, "rows").unwrap();
    let file = File::create(&path).unwrap();
    let mut archive = Archive::create(file, &path, &key()).unwrap();
    archive.add_file(&database, "baton.db").unwrap();
    archive.finish(manifest()).unwrap();
    extract(&path, &key(), &inside(&folder)).unwrap();
    assert_eq!(std::fs::read_to_string(inside(&folder).join("baton.db")).unwrap(), "rows");
}
