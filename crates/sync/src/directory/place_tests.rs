//! What somebody does to a file between the look at it and the end of reading it.

use super::{DirectoryError, read_still, read_up_to, read_whole};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

const LIMIT: u64 = 16;

/// Something that is done to a file.
type Change<'a> = &'a dyn Fn(&Path);

/// Reads a file to which this is done once half of what it looked like is read.
fn read_while(path: &Path, change: impl FnOnce(&Path)) -> Result<Vec<u8>, DirectoryError> {
    let file = File::open(path).unwrap();
    read_still(path, file, LIMIT, |file| {
        let mut bytes = read_up_to(file, 3)?;
        change(path);
        bytes.extend(read_up_to(file, LIMIT)?);
        Ok(bytes)
    })
}

fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
}

#[test]
fn what_changes_while_it_is_read_is_read_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.json");
    let append = |path: &Path, bytes: &[u8]| {
        OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
    };
    let cut = |path: &Path| OpenOptions::new().write(true).open(path).unwrap().set_len(2).unwrap();
    let changes: [(&str, Change<'_>); 4] = [
        ("grows", &|path| append(path, b"more")),
        ("grows beyond the limit", &|path| append(path, &[b'x'; 100])),
        ("is truncated", &cut),
        ("is written anew", &|path| write(path, b"else")),
    ];
    for (what, change) in changes {
        write(&path, b"whole file");
        let moving = read_while(&path, change).unwrap_err();
        assert!(matches!(moving, DirectoryError::Moving { .. }), "{what}: {moving}");
    }
}

#[test]
fn what_is_replaced_or_removed_while_it_is_read_is_read_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (path, beside) = (folder.path().join("a.json"), folder.path().join("b.json"));
    write(&path, b"whole file");
    write(&beside, b"another");
    let read = read_while(&path, |path| fs::rename(&beside, path).unwrap()).unwrap();
    assert_eq!(read, b"whole file", "not a mixture of both");
    assert_eq!(read_whole(&path, LIMIT).unwrap().unwrap(), b"another", "at the next look");
    let read = read_while(&path, |path| fs::remove_file(path).unwrap()).unwrap();
    assert_eq!(read, b"another");
    assert_eq!(read_whole(&path, LIMIT).unwrap(), None);
}
