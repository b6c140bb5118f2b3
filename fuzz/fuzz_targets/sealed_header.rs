//! The header of a sealed file: it costs what ours cost at most, and opens what it was written for.

#![no_main]

use baton_store::{FileKey, FileKeyKind, MasterKey, SealedReader};
use libfuzzer_sys::fuzz_target;
use std::io::{Read as _, sink};

/// Where a header says how much memory its passphrase takes, in KiB, and how often all of it.
const WORK: std::ops::Range<usize> = 25..33;
/// What is tried of it, and refused by its size alone above what any file may ask for.
const TRIED: (u32, u32) = (256, 2);
const ALLOWED: (u32, u32) = (1 << 20, 20);

fuzz_target!(|input: &[u8]| {
    let Ok(kind) = SealedReader::kind(input) else {
        return assert!(read(input, &master()).is_err(), "a file of no kind was opened");
    };
    match kind {
        FileKeyKind::Master => drop(read(input, &master())),
        FileKeyKind::Passphrase => {
            assert!(read(input, &master()).is_err(), "another kind of key opened it");
            let (memory, passes) = (number(&input[WORK][..4]), number(&input[WORK][4..]));
            let is_cheap = memory <= TRIED.0 && passes <= TRIED.1;
            let is_refused = memory > ALLOWED.0 || passes > ALLOWED.1;
            if is_cheap || is_refused {
                let found = read(input, &FileKey::Passphrase("hunter2".into()));
                assert!(!is_refused || found.is_err(), "more work was done than any file may ask for");
            }
        }
    }
});

fn master() -> FileKey {
    FileKey::Master(MasterKey::from_bytes([7; 32]))
}

fn read(input: &[u8], key: &FileKey) -> std::io::Result<u64> {
    let mut opened = SealedReader::open(input, key).map_err(std::io::Error::other)?;
    std::io::copy(&mut opened.by_ref().take(1 << 20), &mut sink())
}

fn number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| (number << 8) | u32::from(*byte))
}
