//! The log of operations: what a foreign program drops from the board is applied again from here.
//!
//! The one idea: *an operation is done when its line is on disk*. The board follows; where it does
//! not, the next one who looks repairs it. A last line that is torn was never acknowledged, and is cut.

use crate::error::{FederationError, Tried};
use crate::folder;
use crate::folder::{Folder, open_plain, open_to_read, options};
use crate::operation::Entry;
use std::fs::File;
use std::io;
use std::io::{BufRead as _, BufReader, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// How many operations are kept.
const KEPT: usize = 1_000;
/// With how many it is compacted.
const FULL: u64 = 2_000;
/// How much of an end is read at first: more than most lines are long.
const WINDOW: u64 = 16 << 10;
/// How much of a log is read, from its end.
const LARGEST: u64 = 64 << 20;

/// The log of a folder.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
}

/// What an append can be taken back with.
#[derive(Debug)]
pub(crate) struct Mark(u64);

impl Log {
    pub(crate) fn of(folder: &Folder) -> Self {
        Self { path: folder.log() }
    }

    /// The last operation. Only the end of the file is read.
    pub(crate) fn last(&self) -> Result<Option<Entry>, FederationError> {
        let mut file = match open_to_read(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).tried("read", &self.path),
        };
        let find = |_: u64, end: &[u8]| lines(end).rev().find_map(entry);
        in_the_end(&mut file, find).tried("read", &self.path)
    }

    /// All operations, oldest first. Damaged lines are passed over. Of a log that is too large the newest
    /// are read, for these are what a board may lack.
    pub(crate) fn entries(&self) -> Result<Vec<Entry>, FederationError> {
        Ok(lines(&self.bytes()?).filter_map(entry).collect())
    }

    fn bytes(&self) -> Result<Vec<u8>, FederationError> {
        let mut bytes = Vec::new();
        match open_to_read(&self.path) {
            Ok(mut file) => {
                let size = file.metadata().tried("read", &self.path)?.len();
                let start = size.saturating_sub(LARGEST);
                file.seek(SeekFrom::Start(start)).tried("read", &self.path)?;
                file.take(LARGEST).read_to_end(&mut bytes).tried("read", &self.path)?;
                if start > 0 {
                    // The first line may have lost its beginning.
                    let end = bytes.iter().position(|byte| *byte == b'\n');
                    bytes.drain(..end.map_or(bytes.len(), |end| end + 1));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).tried("read", &self.path),
        }
        Ok(bytes)
    }

    /// Appends operations, and syncs them. What fails leaves nothing behind.
    pub(crate) fn append(&self, entries: &[Entry]) -> Result<Mark, FederationError> {
        let mut text = Vec::new();
        for entry in entries {
            serde_json::to_writer(&mut text, entry)
                .map_err(io::Error::from)
                .tried("write", &self.path)?;
            text.push(b'\n');
        }
        let mut how = options();
        how.read(true).write(true).create(true).truncate(false);
        let mut file = open_plain(&self.path, how).tried("open", &self.path)?;
        let start = whole(&mut file).tried("read", &self.path)?;
        let mut write = || {
            file.set_len(start)?;
            file.seek(SeekFrom::Start(start))?;
            file.write_all(&text)?;
            file.sync_data()
        };
        let written = write();
        if written.is_err() {
            let _ = file.set_len(start);
        }
        written.tried("write", &self.path)?;
        if start == 0 {
            folder::sync_folder(self.path.parent().unwrap_or(&self.path))
                .tried("sync", &self.path)?;
        }
        Ok(Mark(start))
    }

    /// Takes an append back.
    pub(crate) fn undo(&self, mark: &Mark) -> Result<(), FederationError> {
        let mut how = options();
        how.write(true);
        let file = open_plain(&self.path, how).tried("open", &self.path)?;
        file.set_len(mark.0).and_then(|()| file.sync_data()).tried("write", &self.path)
    }

    /// Keeps the newest operations only, once there are many. Called under the lock.
    pub(crate) fn compact(&self, last: u64) -> Result<(), FederationError> {
        let Some(first) = self.first()? else { return Ok(()) };
        if last.saturating_sub(first.rev) < FULL {
            return Ok(());
        }
        let bytes = self.bytes()?;
        let all: Vec<&[u8]> = lines(&bytes).filter(|line| entry(line).is_some()).collect();
        let mut kept = all[all.len().saturating_sub(KEPT)..].join(&b'\n');
        kept.push(b'\n');
        folder::replace(&self.path, &kept).tried("compact", &self.path)
    }

    fn first(&self) -> Result<Option<Entry>, FederationError> {
        let file = open_to_read(&self.path).tried("read", &self.path)?;
        let lines = BufReader::new(file).take(LARGEST).split(b'\n');
        Ok(lines.map_while(Result::ok).find_map(|line| entry(&line)))
    }
}

/// Lines that end; what follows the last one is torn.
fn lines(bytes: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let end = bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    bytes[..end].split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

fn entry(line: &[u8]) -> Option<Entry> {
    serde_json::from_slice(line).ok()
}

/// Where the last whole line ends.
fn whole(file: &mut File) -> io::Result<u64> {
    let line_end = |start: u64, end: &[u8]| {
        let index = end.iter().rposition(|byte| *byte == b'\n')?;
        Some(start + index as u64 + 1)
    };
    Ok(in_the_end(file, line_end)?.unwrap_or(0))
}

/// What is found in the end of a file; more of it is read until something is.
fn in_the_end<T>(file: &mut File, find: impl Fn(u64, &[u8]) -> Option<T>) -> io::Result<Option<T>> {
    let size = file.metadata()?.len();
    let mut window = WINDOW;
    loop {
        let start = size.saturating_sub(window);
        file.seek(SeekFrom::Start(start))?;
        let mut end = Vec::new();
        file.take(window).read_to_end(&mut end)?;
        let found = find(start, &end);
        if found.is_some() || start == 0 || window >= LARGEST {
            return Ok(found);
        }
        window *= 8;
    }
}

#[cfg(test)]
mod tests {
    use super::Log;
    use crate::folder::Folder;
    use crate::operation::{Change, Entry};
    use crate::task::Stamp;
    use crate::tests::{World, add, clock};
    use std::fs;
    use std::fs::OpenOptions;
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
}
