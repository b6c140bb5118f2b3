//! Whatever stands in the files: rows or an error, and never a panic.

use super::super::read;
use super::made::{batch, block, database, files, logged, manifest, same, table};
use super::{follow, options, rounds, save};
use baton_testing::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

/// What happens to the bytes of a file.
#[derive(Debug, Clone)]
enum Change {
    Flip(Index, u8),
    Cut(Index),
    /// Bytes of one place stand in another one.
    Splice(Index, Index, usize),
    /// A length that nothing can have.
    Huge(Index),
    Zeros(Index, usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (any::<Index>(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        1 => any::<Index>().prop_map(Change::Cut),
        2 => (any::<Index>(), any::<Index>(), 1..600_usize)
            .prop_map(|(from, to, length)| Change::Splice(from, to, length)),
        2 => any::<Index>().prop_map(Change::Huge),
        1 => (any::<Index>(), 1..9_000_usize).prop_map(|(at, length)| Change::Zeros(at, length)),
    ]
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let put = |bytes: &mut Vec<u8>, at: usize, new: &[u8]| {
            let end = bytes.len().min(at + new.len());
            bytes[at..end].copy_from_slice(&new[..end - at]);
        };
        let length = bytes.len();
        match self {
            Self::Flip(at, bit) => bytes[at.index(length)] ^= 1 << bit,
            Self::Cut(at) => bytes.truncate(at.index(length)),
            Self::Splice(from, to, size) => {
                let from = from.index(length);
                let piece = bytes[from..length.min(from + size)].to_vec();
                put(bytes, to.index(length), &piece);
            }
            Self::Huge(at) => {
                put(bytes, at.index(length), &[255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
            }
            Self::Zeros(at, size) => put(bytes, at.index(length), &vec![0; *size]),
        }
    }
}

fn changed(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        change.apply(&mut bytes);
    }
    bytes
}

/// The files of a database, with their names.
type Files = Vec<(OsString, Vec<u8>)>;

/// Databases with tables and logs that theirs wrote, compressed and not.
fn theirs() -> &'static [Files] {
    static THEIRS: OnceLock<Vec<Files>> = OnceLock::new();
    THEIRS.get_or_init(|| {
        let made = [(true, true), (true, false), (false, true)].map(|(compress, reuse)| {
            let (options, folder) = (options(compress, reuse), tempfile::tempdir().unwrap());
            follow(&options, &rounds(2));
            save(&options, folder.path());
            let of =
                |path: PathBuf| (path.file_name().unwrap().to_owned(), fs::read(path).unwrap());
            files(folder.path()).into_iter().map(of).collect()
        });
        made.into()
    })
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn damaged_files_are_an_error_or_rows(
        which: Index, file: Index, changes in vec(change(), 1..4)
    ) {
        let mut files = which.get(theirs()).clone();
        let at = file.index(files.len());
        files[at].1 = changed(std::mem::take(&mut files[at].1), &changes);
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        let _ = read(folder.path());
    }

    #[test]
    fn damage_behind_a_right_checksum_is_an_error_or_rows(
        data in vec(change(), 0..3), index in vec(change(), 0..2), edit in vec(change(), 0..2),
        rows in vec(change(), 0..3), kind in 0..3_u8
    ) {
        let edited = changed(edit_of(&manifest()), &edit);
        let batches = logged(&[changed(batch(2, &[b"key1", b"other"]), &rows), batch(9, &[b"z"])]);
        let table = table(&[(changed(block(), &data), kind), (block(), 0)], |bytes| changed(bytes, &index));
        let folder = database(&logged(&[edited]), &table, &batches);
        let _ = read(folder.path());
    }

    #[test]
    fn any_bytes_are_an_error_or_rows(all in vec(vec(any::<u8>(), 0..300), 3)) {
        let folder = database(&all[0], &all[1], &all[2]);
        let _ = read(folder.path());
        let folder = database(&manifest(), &all[1], &all[2]);
        let _ = read(folder.path());
        let folder = database(&manifest(), &table(&[(all[0].clone(), 1), (all[1].clone(), 0)], same),
            &logged(&all));
        let _ = read(folder.path());
    }
}

/// The only edit of a manifest.
fn edit_of(manifest: &[u8]) -> Vec<u8> {
    manifest[7..].to_vec()
}
