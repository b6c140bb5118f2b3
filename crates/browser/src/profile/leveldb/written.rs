//! What was written to a database since a moment, while a browser runs on it.
//!
//! The one idea: each write is appended to the log before anybody hears that it was done. So for as long as the log
//! goes on in the same file, what is behind a place in it is all that was written since; where it goes on in another
//! one, or is damaged, nobody can tell. A database that is made again names its log as the one before did: the log is
//! the same if it was made at the same time, and what is in front of the place is the same. The latter alone does not
//! tell where values lie in files of their own, of which the log has numbers only.

use super::log::{BLOCK, records_behind};
use super::{LARGEST, LevelDbReader, plain};
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// Where the log of a database ends.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(in crate::profile) struct LogEnd {
    /// Which file it is.
    number: u64,
    /// When the file was made; none where the file system does not say.
    made: Option<SystemTime>,
    /// Where in it the last whole record ends.
    bytes: usize,
    /// The checksum of all that is in front of that.
    sum: u32,
}

impl LogEnd {
    /// Where it ends now; none where there is none, or it is damaged. Blocks on the disk.
    pub(in crate::profile) fn now(folder: &Path) -> Option<Self> {
        let number = newest(folder)?;
        let begin = Self { number, made: made(folder, number), ..Self::default() };
        begin.follow(folder, |_| {})
    }

    /// Where it ends now. Calls `each` with every key that was written since; none where that cannot be told. Blocks
    /// on the disk.
    pub(in crate::profile) fn follow(
        self,
        folder: &Path,
        mut each: impl FnMut(&[u8]),
    ) -> Option<Self> {
        // In front of what is read: of a database that is made again meanwhile the next look tells.
        if newest(folder)? != self.number || made(folder, self.number) != self.made {
            return None;
        }
        let log = plain::read(&folder.join(name(self.number)), LARGEST).ok()?;
        if crc32c::crc32c(log.get(..self.bytes)?) != self.sum {
            return None;
        }
        let (block, behind) = (self.bytes - self.bytes % BLOCK, self.bytes % BLOCK);
        let rest = log.get(block..).filter(|rest| rest.len() >= behind)?;
        let read = records_behind(rest, behind, |batch| {
            LevelDbReader(batch).rows_of_batch(|_, _, key, _| {
                each(key);
                Ok(())
            })
        });
        let (end, lost) = read.ok()?;
        let bytes = block + end;
        let sum = crc32c::crc32c_append(self.sum, log.get(self.bytes..bytes)?);
        lost.is_none().then_some(Self { bytes, sum, ..self })
    }
}

fn name(number: u64) -> String {
    format!("{number:06}.log")
}

/// When a log was made.
fn made(folder: &Path, number: u64) -> Option<SystemTime> {
    fs::symlink_metadata(folder.join(name(number))).and_then(|found| found.created()).ok()
}

/// The log to which is written: the newest one.
fn newest(folder: &Path) -> Option<u64> {
    let names = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.strip_suffix(".log")?.parse().ok()).max()
}

#[cfg(test)]
mod tests {
    use super::super::log::append;
    use super::super::{VALUE, put_slice};
    use super::*;
    use tempfile::TempDir;

    /// A log of batches of one row each.
    struct Log(TempDir, Vec<u8>);

    impl Log {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap(), Vec::new())
        }

        fn append(&mut self, key: &[u8], size: usize) {
            self.append_of(7, key, size);
        }

        /// A row whose value is of these bytes.
        fn append_of(&mut self, byte: u8, key: &[u8], size: usize) {
            let mut batch = [0; 12].to_vec();
            batch[8] = 1;
            batch.push(VALUE);
            put_slice(&mut batch, key);
            put_slice(&mut batch, &vec![byte; size]);
            append(&mut self.1, &batch);
            self.put(4, self.1.len());
        }

        fn put(&self, number: u64, bytes: usize) {
            fs::write(self.0.path().join(name(number)), &self.1[..bytes]).unwrap();
        }

        fn since(&self, end: LogEnd) -> Option<(LogEnd, Vec<Vec<u8>>)> {
            let mut keys = Vec::new();
            let end = end.follow(self.0.path(), |key| keys.push(key.to_vec()))?;
            Some((end, keys))
        }
    }

    #[test]
    fn what_is_behind_a_place_was_written_since_wherever_in_a_block_that_is() {
        for size in [1, 100, BLOCK - 40, BLOCK - 27, BLOCK, 3 * BLOCK] {
            let mut log = Log::new();
            log.append(b"before", size);
            let mut end = LogEnd::now(log.0.path()).unwrap();
            assert_eq!(log.since(end), Some((end, Vec::new())));
            for key in [b"one", b"two"] {
                log.append(key, size);
                let (next, keys) = log.since(end).unwrap();
                assert_eq!(keys, [key], "{size}");
                assert_ne!(next, end);
                end = next;
            }
        }
    }

    #[test]
    fn a_record_that_was_half_written_is_seen_when_it_is_whole() {
        let mut log = Log::new();
        log.append(b"before", 10);
        let whole = log.1.len();
        log.append(b"after", 2 * BLOCK);
        for cut in [whole, whole + 3, whole + 100, BLOCK, 2 * BLOCK + 9, log.1.len() - 1] {
            log.put(4, cut);
            let end = LogEnd::now(log.0.path()).unwrap();
            log.put(4, log.1.len());
            assert_eq!(log.since(end).unwrap().1, [b"after"], "{cut}");
        }
    }

    #[test]
    fn of_another_log_or_a_damaged_one_nobody_can_tell() {
        let mut log = Log::new();
        assert_eq!(LogEnd::now(log.0.path()), None);
        log.append(b"before", 10);
        let end = LogEnd::now(log.0.path()).unwrap();
        log.append(b"after", 10);
        log.put(4, 5);
        assert_eq!(log.since(end), None, "shorter than it was");
        let last = log.1.len() - 1;
        log.1[last] ^= 1;
        log.put(4, log.1.len());
        assert_eq!(log.since(end), None, "damaged");
        log.1[last] ^= 1;
        log.put(4, log.1.len());
        assert!(log.since(end).is_some());
        log.put(7, 0);
        assert_eq!(log.since(end), None, "goes on in another file");
    }

    #[test]
    fn a_database_that_is_made_again_with_a_log_of_the_same_name_and_length_is_another_one() {
        for size in [10, BLOCK, 3 * BLOCK] {
            let mut old = Log::new();
            old.append_of(1, b"before", size);
            let end = LogEnd::now(old.0.path()).unwrap();
            let mut new = Log::new();
            new.append_of(2, b"before", size);
            assert_eq!(new.1.len(), old.1.len());
            // As if both were made at once.
            let made = made(new.0.path(), 4);
            assert_eq!(new.since(LogEnd { made, ..end }), None, "{size}");
            new.append(b"after", size);
            assert_eq!(new.since(LogEnd { made, ..end }), None, "{size}");
            // Of what is behind the first one too.
            old.append_of(1, b"after", size);
            let (end, _) = old.since(end).unwrap();
            assert!(old.since(end).is_some());
            assert_eq!(new.since(LogEnd { made, ..end }), None, "{size}");
        }
    }

    /// As where a value lies in a file of its own: a log has its number, which is that of the one before.
    #[test]
    fn a_database_that_is_made_again_with_the_same_log_is_another_one() {
        let mut old = Log::new();
        old.append_of(1, b"before", 10);
        let end = LogEnd::now(old.0.path()).unwrap();
        if end.made.is_none() {
            baton_testing::skip!("the file system does not say when a file was made");
        }
        // Until its clock has moved on.
        let probe = old.0.path().join("probe");
        loop {
            fs::write(&probe, "").unwrap();
            let made = fs::metadata(&probe).unwrap().created().unwrap();
            fs::remove_file(&probe).unwrap();
            if Some(made) != end.made {
                break;
            }
        }
        let mut new = Log::new();
        new.append_of(1, b"before", 10);
        assert_eq!(new.1, old.1);
        assert_eq!(new.since(end), None);
        assert!(old.since(end).is_some());
    }
}
