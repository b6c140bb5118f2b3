//! The manifest of a `LevelDB`: which files are part of it (`db/version_edit.cc` in its source).

use super::bytes::{LevelDbReader, put_slice, put_varint};
use super::{Damage, log};
use std::collections::BTreeSet;

const COMPARATOR: u64 = 1;
const LOG_NUMBER: u64 = 2;
const NEXT_FILE: u64 = 3;
const LAST_SEQUENCE: u64 = 4;
const COMPACT_POINTER: u64 = 5;
const DELETED_FILE: u64 = 6;
const NEW_FILE: u64 = 7;
const PREVIOUS_LOG: u64 = 9;

/// The order of the keys that we can write: that of their bytes.
const BYTEWISE: &[u8] = b"leveldb.BytewiseComparator";

/// The files that make up a database.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    /// Sorted tables, by number.
    pub(super) tables: BTreeSet<u64>,
    /// Logs from this number on are part of it.
    pub(super) first_log: u64,
    /// An older log that is still part of it; 0 for none.
    pub(super) previous_log: u64,
}

/// A table, as the manifest names it.
pub(super) struct NewTable<'a> {
    pub(super) number: u64,
    pub(super) size: u64,
    pub(super) smallest: &'a [u8],
    pub(super) largest: &'a [u8],
}

impl Manifest {
    /// The files that a manifest names; of a damaged one it is not known which they are.
    pub(super) fn parse(file: &[u8]) -> Result<Self, Damage> {
        let (mut manifest, mut is_empty) = (Self::default(), true);
        let lost = log::records(file, |edit| {
            is_empty = false;
            manifest.apply(LevelDbReader(edit)).ok_or(Damage::Bytes("an entry of the manifest"))
        })?;
        // Here a browser does not read on either (`VersionSet::Recover`).
        match lost.first() {
            Some(what) => Err(Damage::Bytes(what)),
            None if is_empty => Err(Damage::Bytes("a manifest without an entry")),
            None => Ok(manifest),
        }
    }

    fn apply(&mut self, mut edit: LevelDbReader<'_>) -> Option<()> {
        while !edit.is_empty() {
            match edit.varint()? {
                COMPARATOR => {
                    edit.slice()?;
                }
                LOG_NUMBER => self.first_log = edit.varint()?,
                PREVIOUS_LOG => self.previous_log = edit.varint()?,
                NEXT_FILE | LAST_SEQUENCE => {
                    edit.varint()?;
                }
                COMPACT_POINTER => {
                    edit.varint()?;
                    edit.slice()?;
                }
                DELETED_FILE => {
                    edit.varint()?;
                    self.tables.remove(&edit.varint()?);
                }
                NEW_FILE => {
                    edit.varint()?;
                    self.tables.insert(edit.varint()?);
                    edit.varint()?;
                    edit.slice()?;
                    edit.slice()?;
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// A manifest that names one table, at `level`, or none.
    pub(super) fn of(table: Option<&NewTable<'_>>, level: u64, sequence: u64) -> Vec<u8> {
        let mut edit = Vec::new();
        let next = table.map_or(2, |table| table.number + 1);
        put_varint(&mut edit, COMPARATOR);
        put_slice(&mut edit, BYTEWISE);
        for (tag, number) in [(LOG_NUMBER, next), (NEXT_FILE, next + 1), (LAST_SEQUENCE, sequence)]
        {
            put_varint(&mut edit, tag);
            put_varint(&mut edit, number);
        }
        if let Some(table) = table {
            for number in [NEW_FILE, level, table.number, table.size] {
                put_varint(&mut edit, number);
            }
            put_slice(&mut edit, table.smallest);
            put_slice(&mut edit, table.largest);
        }
        let mut file = Vec::new();
        log::append(&mut file, &edit);
        file
    }

    /// Whether the log with this number is part of the database.
    pub(super) fn has_log(&self, number: u64) -> bool {
        number >= self.first_log || (number == self.previous_log && number > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_names_its_table() {
        let table = NewTable { number: 3, size: 9, smallest: b"a", largest: b"z" };
        let manifest = Manifest::parse(&Manifest::of(Some(&table), 2, 7)).unwrap();
        assert_eq!(manifest.tables, BTreeSet::from([3]));
        assert!(manifest.has_log(4) && !manifest.has_log(3));
        assert_eq!(Manifest::parse(&Manifest::of(None, 0, 0)).unwrap().tables, BTreeSet::new());
        Manifest::parse(b"").unwrap_err();
    }
}
