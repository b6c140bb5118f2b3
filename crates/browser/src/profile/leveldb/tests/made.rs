//! Files of a database that say what a test wants, each with its right checksums.

use super::super::bytes::{masked, put_slice, put_varint};
use super::super::manifest::{Manifest, NewTable};
use super::super::{VALUE, log};
use std::fs;
use std::path::{Path, PathBuf};

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
