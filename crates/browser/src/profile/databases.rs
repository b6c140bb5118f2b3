//! Which databases of a storage key were written since a moment, while its browser runs.
//!
//! The one idea: events tell which database a page writes to, but they come by another way than the page's answer, and
//! may be late. The disk is not: what was committed is in the log of the key's `LevelDB` before the page hears of it.
//! Every row begins with the number of its database, and the rows of number 0 say which name has which.

use super::at_rest::folder_name;
use super::leveldb;
use super::leveldb::written::LogEnd;
use baton_session::{StorageKey, Text};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The most that is read to know the names, in bytes; of a key that has more nothing is known.
const LARGEST: u64 = 256 << 20;

/// How the databases of a key stood at a moment.
#[derive(Debug, Clone)]
pub(crate) struct DatabaseLog {
    folder: PathBuf,
    end: LogEnd,
    /// Their names by number.
    names: BTreeMap<u64, Text>,
}

impl DatabaseLog {
    /// How they stand now; none where that is not known. Blocks on the disk.
    pub(crate) fn now(profile: &Path, key: &StorageKey) -> Option<Self> {
        // The folders of partitions are named by numbers of the profile.
        let owner = folder_name(key.origin()).filter(|_| key.is_first_party())?;
        let folder = profile.join(format!("Default/IndexedDB/{owner}.indexeddb.leveldb"));
        // First: a name that comes meanwhile is written behind it.
        let end = LogEnd::now(&folder)?;
        let found = leveldb::read_rows(&folder, LARGEST, is_name).ok()??;
        if !found.lost.is_none() {
            return None;
        }
        let names =
            found.rows.iter().map(|(key, number)| Some((number_of(number)?, name_of(key)?)));
        Some(Self { folder, end, names: names.collect::<Option<_>>()? })
    }

    /// How they stand now, and the names of those that were written since; none where that is not known, or databases
    /// came or went. Blocks on the disk.
    pub(crate) fn follow(&self) -> Option<(Self, BTreeSet<Text>)> {
        let mut written = Some(BTreeSet::new());
        let end = self.end.follow(&self.folder, |key| {
            let name = match row_of(key) {
                Some((0, rest)) if rest.first() != Some(&NAME) => return,
                Some((number, _)) => self.names.get(&number),
                None => None,
            };
            match (name, &mut written) {
                (Some(name), Some(written)) => drop(written.insert(name.clone())),
                _ => written = None,
            }
        })?;
        Some((Self { end, ..self.clone() }, written?))
    }
}

/// What the disk says of the databases of a key.
#[derive(Debug)]
pub(crate) struct OnDisk {
    /// How they stand now.
    pub(crate) log: DatabaseLog,
    /// Those that were written since all were read; none where that is not known.
    written: Option<BTreeSet<Text>>,
}

impl OnDisk {
    /// Looks at them. `log` is how they stood before all were read. Blocks on the disk.
    pub(crate) fn look(profile: &Path, key: &StorageKey, log: Option<DatabaseLog>) -> Option<Self> {
        match log.and_then(|log| log.follow()) {
            Some((log, written)) => Some(Self { log, written: Some(written) }),
            None => Some(Self { log: DatabaseLog::now(profile, key)?, written: None }),
        }
    }

    /// Those that need be read, where events told of these; none where it has to be all. What events tell and the
    /// disk does not makes the disk one that is not to be gone by.
    pub(crate) fn wanted(&self, told: &BTreeSet<Text>) -> Option<&BTreeSet<Text>> {
        self.written.as_ref().filter(|written| told.is_subset(written))
    }
}

/// What a row is of that says which number a database has (`DatabaseNameKey`).
const NAME: u8 = 201;
/// How the key of such a row begins.
const NAMES: [u8; 5] = [0, 0, 0, 0, NAME];

fn is_name(key: &[u8]) -> bool {
    key.starts_with(&NAMES)
}

/// The number of the database of a row, and what is behind those of its store and index (`KeyPrefix`): the first byte
/// says how long the three are.
fn row_of(key: &[u8]) -> Option<(u64, &[u8])> {
    let (lengths, rest) = key.split_first()?;
    let database = usize::from(lengths >> 5) + 1;
    let others = usize::from((lengths >> 2) & 7) + 1 + usize::from(lengths & 3) + 1;
    let (number, rest) = rest.split_at_checked(database)?;
    Some((little_endian(number), rest.get(others..)?))
}

/// The number in the value of such a row: its bytes, the lowest first, without those above that are 0 (`EncodeInt`).
fn number_of(value: &[u8]) -> Option<u64> {
    let is_number = (1..=size_of::<u64>()).contains(&value.len());
    is_number.then(|| little_endian(value))
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| (number << 8) | u64::from(*byte))
}

/// The name in its key, behind that of the origin.
fn name_of(key: &[u8]) -> Option<Text> {
    let mut rest = key.get(NAMES.len()..)?;
    text(&mut rest)?;
    let name = text(&mut rest)?;
    rest.is_empty().then(|| Text::from_utf16(&name))
}

/// A text behind its length, in units of two bytes of which the higher comes first.
fn text(rest: &mut &[u8]) -> Option<Vec<u16>> {
    let length = usize::try_from(varint(rest)?).ok()?;
    let (text, behind) = rest.split_at_checked(length.checked_mul(2)?)?;
    *rest = behind;
    Some(text.chunks_exact(2).map(|unit| u16::from_be_bytes([unit[0], unit[1]])).collect())
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_of_which_database_it_is() {
        assert_eq!(row_of(&[0, 0, 0, 0, NAME, 1]), Some((0, &[NAME, 1][..])));
        // A database of two bytes, a store of one and an index of two.
        assert_eq!(row_of(&[0b0010_0001, 4, 1, 9, 8, 7, 3]), Some((260, &[3][..])));
        assert_eq!(row_of(&[0b1111_1111, 1, 2, 3]), None);
        assert_eq!(row_of(&[]), None);
    }

    #[test]
    fn a_disk_that_knows_less_than_events_is_not_gone_by() {
        let names = |names: &[&str]| names.iter().map(|name| Text::from(*name)).collect();
        let log =
            DatabaseLog { folder: PathBuf::new(), end: LogEnd::default(), names: BTreeMap::new() };
        let on_disk = OnDisk { log, written: Some(names(&["a", "b"])) };
        assert_eq!(on_disk.wanted(&names(&["b"])), Some(&names(&["a", "b"])));
        assert_eq!(on_disk.wanted(&names(&["b", "c"])), None);
        assert_eq!(OnDisk { written: None, ..on_disk }.wanted(&names(&[])), None);
    }

    #[test]
    fn a_name_stands_behind_its_origin() {
        let key = [&NAMES[..], &[1, 0, 65, 2, 0, 66, 0xd8, 0x3d]].concat();
        assert!(is_name(&key));
        assert_eq!(name_of(&key), Some(Text::from_utf16(&[66, 0xd83d])));
        assert_eq!(name_of(&key[..key.len() - 1]), None);
    }

    #[test]
    fn a_number_is_its_bytes_as_in_the_rows_of_its_database() {
        for number in [1, 127, 128, 200] {
            assert_eq!(number_of(&[number]), Some(u64::from(number)));
        }
        assert_eq!(number_of(&[4, 1]), Some(260));
        assert_eq!(row_of(&[0b0010_0000, 4, 1, 9, 8, 3]), Some((260, &[3][..])));
        assert_eq!(number_of(&[0xff; 8]), Some(u64::MAX));
        assert_eq!(number_of(&[]), None);
        assert_eq!(number_of(&[1; 9]), None);
    }
}
