//! `LevelDB` beside another implementation, and with damaged files.

mod damaged;

use super::{Rows, read, write};
use baton_testing::cases;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use rusty_leveldb::{CompressorId, DB, LdbIterator, Options, compressor};
use std::fs;
use std::io::{Read, Write};
use std::path::Path;

/// What is done to a database.
#[derive(Debug, Clone)]
enum Step {
    Put(Vec<u8>, Vec<u8>),
    Delete(Vec<u8>),
    Compact,
    Reopen,
}

/// Few keys, so that they are written again and deleted, and keys that begin alike.
fn key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (0..40_u8).prop_map(|number| format!("_https://app.test\0{number}").into_bytes()),
        1 => vec(any::<u8>(), 1..4),
        1 => vec(0xfe..=0xff_u8, 1..6),
    ]
}

fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => vec(any::<u8>(), 0..200),
        2 => (any::<u8>(), 0..9_000_usize).prop_map(|(byte, length)| vec![byte; length]),
        1 => vec(any::<u8>(), 30_000..80_000),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        20 => (key(), value()).prop_map(|(key, value)| Step::Put(key, value)),
        6 => key().prop_map(Step::Delete),
        1 => Just(Step::Compact),
        2 => Just(Step::Reopen),
    ];
    vec(step, 0..80)
}

/// Writes enough for tables and a log, the same keys in each round.
fn rounds(rounds: u8) -> Vec<Step> {
    let row = |round: u8, number: u16| {
        let key = format!("_https://app.test\0{}", (number * 7) % 311).into_bytes();
        let value = (0..100_u16).map(|at| (at * number).to_be_bytes()[1] ^ round).collect();
        Step::Put(key, value)
    };
    let mut steps: Vec<_> =
        (0..rounds).flat_map(|round| (0..200).map(move |number| row(round, number))).collect();
    steps.push(Step::Put(b"last".to_vec(), b"in the log".to_vec()));
    steps
}

/// Options of theirs that make many small tables; their files are in memory.
fn options(compress: bool, reuse: bool) -> Options {
    let compressor =
        if compress { compressor::SnappyCompressor::ID } else { compressor::NoneCompressor::ID };
    Options {
        compressor,
        write_buffer_size: 4 << 10,
        max_file_size: 8 << 10,
        block_size: 512,
        block_restart_interval: 5,
        reuse_logs: reuse,
        reuse_manifest: reuse,
        ..rusty_leveldb::in_memory()
    }
}

/// All rows of a database of which nothing is damaged.
fn whole(folder: &Path) -> Rows {
    let found = read(folder).unwrap().unwrap();
    assert!(found.lost.is_none(), "{}", found.lost);
    found.rows
}

const THEIRS: &str = "db";

fn open(options: &Options) -> DB {
    DB::open(THEIRS, options.clone()).unwrap()
}

/// Does it with theirs, and says what must be there in the end.
fn follow(options: &Options, steps: &[Step]) -> Rows {
    let (mut database, mut wanted) = (open(options), Rows::new());
    for step in steps {
        match step {
            Step::Put(key, value) => {
                database.put(key, value).unwrap();
                wanted.insert(key.clone(), value.clone());
            }
            Step::Delete(key) => {
                database.delete(key).unwrap();
                wanted.remove(key);
            }
            Step::Compact => database.compact_range(&[0], &[255; 8]).unwrap(),
            Step::Reopen => {
                database.close().unwrap();
                database = open(options);
            }
        }
    }
    database.close().unwrap();
    wanted
}

/// Their files, on the disk.
fn save(options: &Options, folder: &Path) {
    for name in options.env.children(Path::new(THEIRS)).unwrap() {
        let mut bytes = Vec::new();
        let path = Path::new(THEIRS).join(&name);
        options.env.open_sequential_file(&path).unwrap().read_to_end(&mut bytes).unwrap();
        fs::write(folder.join(name), bytes).unwrap();
    }
}

/// Our files, where they look for theirs.
fn load(options: &Options, folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = Path::new(THEIRS).join(entry.file_name());
        let mut file = options.env.open_writable_file(&path).unwrap();
        file.write_all(&fs::read(entry.path()).unwrap()).unwrap();
    }
}

/// All that theirs has.
fn rows(options: &Options) -> Rows {
    let mut database = open(options);
    let (mut all, mut rows) = (database.new_iter().unwrap(), Rows::new());
    while let Some((key, value)) = all.next() {
        rows.insert(key, value);
    }
    rows
}

fn write_rows(folder: &Path, rows: &Rows) {
    write(folder, rows.iter().map(|(key, value)| (&**key, &**value))).unwrap();
}

/// How many files of a kind are in a folder.
fn count(folder: &Path, end: &str) -> usize {
    let names = std::fs::read_dir(folder).unwrap();
    names.filter(|entry| entry.as_ref().unwrap().path().to_str().unwrap().ends_with(end)).count()
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn what_theirs_writes_is_read(steps in steps(), compress: bool, reuse: bool) {
        let (options, folder) = (options(compress, reuse), tempfile::tempdir().unwrap());
        let wanted = follow(&options, &steps);
        save(&options, folder.path());
        prop_assert_eq!(whole(folder.path()), wanted);
    }

    #[test]
    fn what_is_written_theirs_reads(wanted in btree_map(key(), value(), 0..100), steps in steps()) {
        let (options, folder) = (options(true, false), tempfile::tempdir().unwrap());
        write_rows(folder.path(), &wanted);
        prop_assert_eq!(&whole(folder.path()), &wanted);
        load(&options, folder.path());
        prop_assert_eq!(&rows(&options), &wanted);
        // And it goes on behind it.
        let mut all = wanted;
        for step in &steps {
            match step {
                Step::Put(key, value) => {
                    all.insert(key.clone(), value.clone());
                }
                Step::Delete(key) => {
                    all.remove(key);
                }
                _ => {}
            }
        }
        follow(&options, &steps);
        prop_assert_eq!(&rows(&options), &all);
        let after = tempfile::tempdir().unwrap();
        save(&options, after.path());
        prop_assert_eq!(whole(after.path()), all);
    }
}

#[test]
fn rows_of_many_tables_and_a_log_are_one_database() {
    let (options, folder) = (options(true, true), tempfile::tempdir().unwrap());
    let wanted = follow(&options, &rounds(20));
    save(&options, folder.path());
    let (tables, logs) = (count(folder.path(), ".ldb"), count(folder.path(), ".log"));
    assert!(tables > 3 && logs > 0, "{tables} tables, {logs} logs");
    assert_eq!(whole(folder.path()), wanted);
}
