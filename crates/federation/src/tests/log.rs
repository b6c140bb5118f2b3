//! A log that has grown too large loses its oldest operations, never its newest.

use super::world::{World, add, clock};
use crate::change::{Change, Entry};
use crate::folder::Folder;
use crate::log::Log;
use crate::stamp::Stamp;
use std::fs::{self, OpenOptions};
use std::io::Write;

const BEYOND_WHAT_IS_READ: usize = 65 << 20;
const LAST: u64 = 2_500;

fn entry(rev: u64) -> Entry {
    let (session, at) = ("one".to_owned(), Stamp::from(clock()));
    let change = Change::Begin { owner: None };
    Entry { rev, session, at, fence: 0, by: None, before: None, change }
}

/// The first operation, a damaged line that is longer than what is read, and all the others.
fn large(folder: &Folder) -> Log {
    let log = Log::of(folder);
    folder.create().unwrap();
    log.append(&[entry(1)]).unwrap();
    let mut file = OpenOptions::new().append(true).open(folder.log()).unwrap();
    let mut damaged = vec![b' '; BEYOND_WHAT_IS_READ];
    damaged.push(b'\n');
    file.write_all(&damaged).unwrap();
    log.append(&(2..=LAST).map(entry).collect::<Vec<_>>()).unwrap();
    log
}

#[test]
fn what_is_compacted_are_the_newest_operations() {
    let world = World::new();
    let log = large(&world.board.folder);
    let read = log.entries().unwrap();
    assert_eq!(read.last().map(|entry| entry.rev), Some(LAST));
    log.compact(LAST).unwrap();
    let kept = log.entries().unwrap();
    assert_eq!(kept.first().map(|entry| entry.rev), Some(LAST - 999));
    assert_eq!(kept.last().map(|entry| entry.rev), Some(LAST));
    assert!(fs::metadata(world.board.folder.log()).unwrap().len() < 1 << 20);
}

#[test]
fn a_log_that_cannot_be_compacted_is_told_of() {
    let world = World::new();
    let folder = &world.board.folder;
    world.board.write(&add("first")).unwrap();
    let log = Log::of(folder);
    let last = log.last().unwrap().unwrap();
    let many = (1..=LAST).map(|n| Entry { rev: last.rev + n, ..last.clone() });
    log.append(&many.collect::<Vec<_>>()).unwrap();
    // What cannot be removed is in the way of the new log.
    let draft = folder.log().with_added_extension("draft");
    fs::create_dir_all(draft.join("in the way")).unwrap();
    let done = world.board.write(&add("second")).unwrap();
    assert!(done.task.is_some(), "it is done all the same");
    let why = done.not_compacted.unwrap();
    assert!(why.starts_with("could not compact"), "{why}");
    fs::remove_dir_all(draft).unwrap();
    assert_eq!(world.board.write(&add("third")).unwrap().not_compacted, None);
}
