//! What one writes the other reads.

use super::super::{Rows, write};
use super::{follow, key, load, options, rounds, rows, save, steps, value, whole};
use baton_testing::cases;
use proptest::collection::btree_map;
use proptest::prelude::*;
use std::path::Path;

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
                super::Step::Put(key, value) => {
                    all.insert(key.clone(), value.clone());
                }
                super::Step::Delete(key) => {
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
