//! Whatever is in the files, reading them gives rows or an error, and never a panic.
//!
//! Small files that claim much take no more memory than the limit, and the reader says where a file
//! counts what is not there.

use super::{follow, options, rounds, save, whole};
use crate::profile::leveldb::log::{Manifest, NewTable};
use crate::profile::leveldb::{
    LevelDbError, Rows, VALUE, log, masked, put_slice, put_varint, read, read_once, write,
};
use baton_testing::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
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

/// Why it is not read into 4 MiB.
fn refused(folder: &tempfile::TempDir) -> String {
    let error = read_once(folder.path(), 4 << 20, |_| true).unwrap_err();
    assert!(matches!(error, LevelDbError::Damaged { .. }), "{error}");
    error.to_string().replace(folder.path().to_str().unwrap(), "here")
}

#[test]
fn what_these_files_are_made_of_is_right() {
    let batches = logged(&[batch(2, &[b"key1", b"other"])]);
    let folder = database(&manifest(), &table(&[(block(), 0)], same), &batches);
    let row = |key: &str, value: &str| (key.as_bytes().to_vec(), value.as_bytes().to_vec());
    let wanted = Rows::from([row("key1", "value"), row("key2", "two"), row("other", "value")]);
    assert_eq!(whole(folder.path()), wanted);
}

#[test]
fn keys_that_share_a_long_beginning_take_no_more_than_is_said() {
    // Each of these rows of 16 bytes has a key of 64 KiB.
    let mut content = row(0, &internal(&vec![7; 64 << 10]), b"");
    for number in 0..100_u32 {
        content.extend(row(64 << 10, &internal(&number.to_be_bytes()), b""));
    }
    content.extend(END);
    let folder = database(&manifest(), &table(&[(content, 0)], same), b"");
    insta::assert_snapshot!(refused(&folder), @"expected a whole LevelDB, found in here/000002.ldb more than 512 MiB of rows");
}

#[test]
fn a_block_with_many_names_takes_no_more_than_is_said() {
    let mut file = Vec::new();
    let place = put_block(
        &mut file,
        &[row(0, &internal(b"key"), &vec![0; 64 << 10]), END.to_vec()].concat(),
        0,
    );
    let index: Vec<u8> = (0..1000).flat_map(|_| row(0, b"k", &place)).collect();
    let file = ended(file, &[index, END.to_vec()].concat());
    let folder = database(&manifest(), &file, b"");
    insta::assert_snapshot!(refused(&folder), @"expected a whole LevelDB, found in here/000002.ldb more than 512 MiB of rows");
}

#[test]
fn a_write_with_the_last_number_is_read() {
    let folder =
        database(&manifest(), &table(&[], same), &logged(&[batch(u64::MAX, &[b"a", b"b"])]));
    assert_eq!(whole(folder.path()).len(), 2);
}

#[test]
fn a_number_of_rows_that_are_not_there_is_told() {
    let mut lying = batch(1, &[b"a"]);
    lying[8..12].copy_from_slice(&[255; 4]);
    let folder = database(&manifest(), &table(&[], same), &logged(&[lying, batch(2, &[b"b"])]));
    insta::assert_snapshot!(passed_over(&folder), @"a, b: 1 damaged place, expected a whole LevelDB, found 21 bytes damaged, first in 000003.log a batch of rows");
    let bad = [row(0, b"k", b""), vec![0, 0, 0, 0, 255, 255, 255, 255]].concat();
    let folder = database(&manifest(), &table(&[(bad, 0), (block(), 0)], same), b"");
    insta::assert_snapshot!(passed_over(&folder), @"key1, key2: 1 damaged place, expected a whole LevelDB, found 12 bytes damaged, first in 000002.ldb a row of a block");
    // It says that it becomes 4 GiB.
    let lying = vec![255, 255, 255, 255, 15, 0, 1];
    let folder = database(&manifest(), &table(&[(lying, 1), (block(), 0)], same), b"");
    insta::assert_snapshot!(passed_over(&folder), @"key1, key2: 1 damaged place, expected a whole LevelDB, found 7 bytes damaged, first in 000002.ldb a compressed block");
}

#[test]
fn a_damaged_block_that_is_named_again_and_again_is_too_much() {
    let mut file = Vec::new();
    let place = put_block(&mut file, &vec![0; 64 << 10], 0);
    file[9] ^= 1;
    let index: Vec<u8> = (0..1000).flat_map(|_| row(0, b"k", &place)).collect();
    let file = ended(file, &[index, END.to_vec()].concat());
    let folder = database(&manifest(), &file, b"");
    insta::assert_snapshot!(refused(&folder), @"expected a whole LevelDB, found in here/000002.ldb more than 512 MiB of rows");
}

/// The keys of a database, and what of it was passed over.
fn passed_over(folder: &tempfile::TempDir) -> String {
    let found = read(folder.path()).unwrap().unwrap();
    let keys: Vec<_> = found.rows.keys().map(|key| String::from_utf8_lossy(key)).collect();
    format!("{}: {}, {}", keys.join(", "), found.lost.place(), found.lost)
}

#[test]
fn every_file_of_a_database_is_needed() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), [(&b"a"[..], &b"b"[..])].into_iter()).unwrap();
    for path in files(folder.path()) {
        let bytes = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(read(folder.path()).is_err(), "{path:?}");
        fs::write(&path, bytes).unwrap();
    }
    assert_eq!(whole(folder.path()).len(), 1);
}

/// A database with one table of these files' making.
pub(super) fn database(manifest: &[u8], table: &[u8], log: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    put("CURRENT", b"MANIFEST-000001\n");
    put("MANIFEST-000001", manifest);
    put("000002.ldb", table);
    put("000003.log", log);
    folder
}

/// A manifest that names the table.
pub(super) fn manifest() -> Vec<u8> {
    let table = NewTable { number: 2, size: 1, smallest: b"a", largest: b"z" };
    Manifest::of(Some(&table), 2, 1)
}

/// Appends a block with its checksum, and returns its place.
pub(super) fn put_block(file: &mut Vec<u8>, content: &[u8], kind: u8) -> Vec<u8> {
    let mut place = Vec::new();
    put_varint(&mut place, file.len() as u64);
    put_varint(&mut place, content.len() as u64);
    let covered = [content, &[kind]].concat();
    file.extend(&covered);
    file.extend(masked(crc32c::crc32c(&covered)).to_le_bytes());
    place
}

/// A row of a block: how much of its key is that of the one before, what is new, and the value.
pub(super) fn row(shared: u64, new: &[u8], value: &[u8]) -> Vec<u8> {
    let mut row = Vec::new();
    for number in [shared, new.len() as u64, value.len() as u64] {
        put_varint(&mut row, number);
    }
    [row, new.to_vec(), value.to_vec()].concat()
}

/// The end of a block: one restart.
pub(super) const END: [u8; 8] = [0, 0, 0, 0, 1, 0, 0, 0];

/// Changes nothing.
pub(super) fn same(bytes: Vec<u8>) -> Vec<u8> {
    bytes
}

/// A table of blocks, each with a right checksum whatever is in it.
pub(super) fn table(blocks: &[(Vec<u8>, u8)], edit: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Vec<u8> {
    let (mut file, mut index) = (Vec::new(), Vec::new());
    for (content, kind) in blocks {
        let place = put_block(&mut file, content, *kind);
        index.extend(row(0, b"k", &place));
    }
    index.extend(END);
    ended(file, &edit(index))
}

/// A table whose blocks are there, with its index and its end.
pub(super) fn ended(mut file: Vec<u8>, index: &[u8]) -> Vec<u8> {
    let place = put_block(&mut file, index, 0);
    let mut footer = [&[0, 0][..], &place].concat();
    footer.resize(40, 0);
    footer.extend(0xdb47_7524_8b80_fb57_u64.to_le_bytes());
    file.extend(footer);
    file
}

/// The key of a row as tables have it, written as number 1.
pub(super) fn internal(key: &[u8]) -> Vec<u8> {
    [key, &[VALUE, 1, 0, 0, 0, 0, 0, 0]].concat()
}

/// A block with two rows that begin alike.
pub(super) fn block() -> Vec<u8> {
    let (first, second) = (internal(b"key1"), internal(b"2"));
    [row(0, &first, b"one"), row(3, &second, b"two"), END.to_vec()].concat()
}

pub(super) fn batch(first: u64, keys: &[&[u8]]) -> Vec<u8> {
    let mut batch = first.to_le_bytes().to_vec();
    batch.extend(u32::try_from(keys.len()).unwrap().to_le_bytes());
    for key in keys {
        batch.push(VALUE);
        put_slice(&mut batch, key);
        put_slice(&mut batch, b"value");
    }
    batch
}

pub(super) fn logged(records: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for record in records {
        log::append(&mut file, record);
    }
    file
}

pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}
