//! Reads a `LevelDB` without touching it: the files are read into memory and opened there, because to
//! open one is to write to it.

use super::Unreadable;
use rusty_leveldb::{DB, LdbIterator, in_memory};
use std::fs;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// The most that is read into memory, in bytes.
const LARGEST: u64 = 512 << 20;

/// Calls `each` with every key and value of the database in `folder`, in the order of the keys.
pub(super) fn read(folder: &Path, mut each: impl FnMut(&[u8], &[u8])) -> Result<(), Unreadable> {
    let name = Path::new("/db");
    let options = rusty_leveldb::Options { create_if_missing: false, ..in_memory() };
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // What a browser holds while it runs, and what it tells of itself.
        if entry.file_name() == "LOCK" || !entry.file_type()?.is_file() {
            continue;
        }
        sum += entry.metadata()?.len();
        if sum > LARGEST {
            return Err(Unreadable::LevelDb(format!("it has more than {LARGEST} bytes")));
        }
        let bytes = fs::read(entry.path())?;
        let file = options.env.open_writable_file(&name.join(entry.file_name()));
        file?.write_all(&bytes)?;
    }
    // The library trusts what it reads; a broken file must not end more than this.
    let walked = catch_unwind(AssertUnwindSafe(|| {
        let mut database = DB::open(name, options)?;
        let mut rows = database.new_iter()?;
        while let Some((key, value)) = rows.next() {
            each(&key, &value);
        }
        Ok(())
    }));
    walked.unwrap_or_else(|_| Err(Unreadable::LevelDb("its files are broken".to_owned())))
}

impl From<rusty_leveldb::Status> for Unreadable {
    fn from(status: rusty_leveldb::Status) -> Self {
        Self::LevelDb(status.to_string())
    }
}
