//! Sealed files: whole or not at all, and only for who has the key.

use baton_store::{FileKey, FileKeyKind, MasterKey, SealedFileError, SealedReader, SealedWriter};
use std::io::{ErrorKind, Read, Write};

const PIECE: usize = 64 << 10;
const HEADER: usize = 57;

fn master(byte: u8) -> FileKey {
    FileKey::Master(MasterKey::from_bytes([byte; 32]))
}

fn passphrase(text: &str) -> FileKey {
    FileKey::Passphrase(text.to_owned().into())
}

fn seal(plain: &[u8], key: &FileKey) -> Vec<u8> {
    let mut writer = SealedWriter::create(Vec::new(), key).unwrap();
    writer.write_all(plain).unwrap();
    writer.finish().unwrap()
}

/// What can be read, and whether the end was reached.
fn open(sealed: &[u8], key: &FileKey) -> Result<(Vec<u8>, bool), SealedFileError> {
    let mut reader = SealedReader::open(sealed, key)?;
    let mut plain = Vec::new();
    match reader.read_to_end(&mut plain) {
        Ok(_) => Ok((plain, true)),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::InvalidData, "{error}");
            Ok((plain, false))
        }
    }
}

fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|at| u8::try_from(at * 31 % 251).unwrap()).collect()
}

#[test]
fn what_was_sealed_comes_back_whatever_its_length() {
    for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 7] {
        let plain = bytes(length);
        let sealed = seal(&plain, &master(7));
        assert_eq!(open(&sealed, &master(7)).unwrap(), (plain, true), "{length} bytes");
    }
}

#[test]
fn a_passphrase_opens_what_it_sealed_and_nothing_else_does() {
    let sealed = seal(b"the master key", &passphrase("correct horse battery"));
    let plain = (b"the master key".to_vec(), true);
    assert_eq!(open(&sealed, &passphrase("correct horse battery")).unwrap(), plain);
    assert_eq!(SealedReader::kind(sealed.as_slice()).unwrap(), FileKeyKind::Passphrase);
    let wrong = open(&sealed, &passphrase("correct horse")).unwrap_err();
    insta::assert_snapshot!(wrong, @"the passphrase does not open the file, or the file's beginning is damaged");
    let other = open(&sealed, &master(7)).unwrap_err();
    insta::assert_snapshot!(other, @"expected a passphrase to open the file, found a master key");
}

#[test]
fn a_file_of_another_key_kind_or_version_is_named() {
    let sealed = seal(b"rows", &master(7));
    let wrong = open(&sealed, &master(8)).unwrap_err();
    insta::assert_snapshot!(wrong, @"the file is sealed with another master key: expected key e149a02f55e0786d, found key df114ddf018f9dba");
    let mut newer = sealed.clone();
    newer[7] = 2;
    insta::assert_snapshot!(open(&newer, &master(7)).unwrap_err(), @r"
    expected a sealed file of version 1, found version 2
    install the version of Baton that made it, or a newer one
    ");
    for other in [b"".as_slice(), b"BATON", &[0; 200]] {
        assert!(matches!(open(other, &master(7)), Err(SealedFileError::NotSealed)));
    }
}

#[test]
fn a_file_that_is_cut_off_never_ends_well() {
    let plain = bytes(2 * PIECE);
    let sealed = seal(&plain, &master(7));
    let pieces = [HEADER, HEADER + PIECE + 16, HEADER + 2 * (PIECE + 16) - 1];
    for length in pieces.into_iter().chain([HEADER + 1, HEADER + 100, HEADER + PIECE]) {
        let (found, whole) = open(&sealed[..length], &master(7)).unwrap();
        assert!(!whole, "{length} of {} bytes", sealed.len());
        assert!(plain.starts_with(&found));
    }
    let longer = [sealed.as_slice(), &[0]].concat();
    assert!(!open(&longer, &master(7)).unwrap().1);
}

#[test]
fn a_flipped_bit_anywhere_is_found() {
    let sealed = seal(&bytes(200), &master(7));
    for at in 0..sealed.len() {
        let mut flipped = sealed.clone();
        flipped[at] ^= 1;
        let whole = open(&flipped, &master(7)).is_ok_and(|(_, whole)| whole);
        assert!(!whole, "byte {at}");
    }
}

#[test]
fn pieces_that_changed_places_are_found() {
    let mut sealed = seal(&bytes(3 * PIECE), &master(7));
    let (first, second) = sealed[HEADER..].split_at_mut(PIECE + 16);
    first.swap_with_slice(&mut second[..PIECE + 16]);
    assert_eq!(open(&sealed, &master(7)).unwrap(), (Vec::new(), false));
}

/// Argon2 must not be made to take all memory by a file from elsewhere.
#[test]
fn a_header_that_asks_for_too_much_is_refused() {
    let mut sealed = seal(b"rows", &passphrase("correct horse battery"));
    sealed[25..29].copy_from_slice(&u32::MAX.to_be_bytes());
    let error = open(&sealed, &passphrase("correct horse battery")).unwrap_err();
    assert!(matches!(error, SealedFileError::Header), "{error}");
}
