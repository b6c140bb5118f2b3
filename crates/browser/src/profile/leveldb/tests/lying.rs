//! Small files that say much take no more memory than is said, and numbers of what is not there are told.

use super::super::read::read_once;
use super::super::{LevelDbError, Rows, read, write};
use super::made::{
    END, batch, block, database, ended, files, internal, logged, manifest, put_block, row, same,
    table,
};
use super::whole;
use std::fs;

/// Why it is not read into 4 MiB.
fn refused(folder: &tempfile::TempDir) -> String {
    let error = read_once(folder.path(), 4 << 20).unwrap_err();
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
