//! Writes a whole database: one sorted table and the manifest that names it.

use super::manifest::{Manifest, NewTable};
use super::{LevelDbError, VALUE, table};
use std::fs;
use std::path::Path;

/// The number of the only table.
const TABLE: u64 = 2;
/// Where it stands: deep enough that the browser has no reason to merge it with anything.
const LEVEL: u64 = 2;
/// The number of every row's write: each key has one row only.
const SEQUENCE: u64 = 1;

/// The file that is written last.
pub(in crate::profile) const LAST_WRITTEN: &str = "CURRENT";

/// Writes a database with these rows, in the order of the bytes of their keys, into `folder`, which
/// exists and holds none. Nothing is synced. Blocks on the disk.
pub(in crate::profile) fn write<'a>(
    folder: &Path,
    rows: impl Iterator<Item = (&'a [u8], &'a [u8])>,
) -> Result<(), LevelDbError> {
    let mut writer = table::Writer::default();
    let mut ends: Option<(Vec<u8>, Vec<u8>)> = None;
    for (key, value) in rows {
        let key = internal(key);
        writer.add(&key, value);
        match &mut ends {
            Some((_, largest)) => *largest = key,
            None => ends = Some((key.clone(), key)),
        }
    }
    let mut written = Vec::new();
    let manifest = if let Some((smallest, largest)) = &ends {
        let table = writer.finish();
        let size = table.len() as u64;
        written.push((format!("{TABLE:06}.ldb"), table));
        let table = NewTable { number: TABLE, size, smallest, largest };
        Manifest::of(Some(&table), LEVEL, SEQUENCE)
    } else {
        Manifest::of(None, LEVEL, SEQUENCE)
    };
    written.push(("MANIFEST-000001".to_owned(), manifest));
    written.push((LAST_WRITTEN.to_owned(), b"MANIFEST-000001\n".to_vec()));
    for (name, bytes) in written {
        let path = folder.join(name);
        fs::write(&path, bytes).map_err(|source| LevelDbError::File { path, source })?;
    }
    Ok(())
}

/// A key as tables have it: with the number and the kind of its write (`db/dbformat.h`).
fn internal(key: &[u8]) -> Vec<u8> {
    let tail = (SEQUENCE << 8) | u64::from(VALUE);
    [key, &tail.to_le_bytes()].concat()
}
