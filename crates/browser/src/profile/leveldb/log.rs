//! The log of a `LevelDB`: records, cut to fit into blocks (`doc/log_format.md` in its source); and its
//! manifest, a log too: which files are part of it (`db/version_edit.cc`).

use super::{Damage, LevelDbReader, Lost, is_sum, masked, put_slice, put_varint};
use std::borrow::Cow;
use std::collections::BTreeSet;

pub(super) const BLOCK: usize = 32 << 10;
/// Checksum, length, and which piece of a record it is.
const HEADER: usize = 7;

const FULL: u8 = 1;
const FIRST: u8 = 2;
const MIDDLE: u8 = 3;
const LAST: u8 = 4;

/// Calls `each` with every whole record of a log, and returns what it passed over. One that was being
/// written when its process died ends the log, as it does for the browser; behind what is damaged it goes
/// on with the next block (`db/log_reader.cc`).
pub(super) fn records(
    log: &[u8],
    each: impl FnMut(&[u8]) -> Result<(), Damage>,
) -> Result<Lost, Damage> {
    records_behind(log, 0, each).map(|(_, lost)| lost)
}

/// The same of a log that begins in the middle of a file, with a block of which the first bytes are not of
/// interest: a record ends there. Says too where the last whole record ends.
pub(super) fn records_behind(
    log: &[u8],
    behind: usize,
    mut each: impl FnMut(&[u8]) -> Result<(), Damage>,
) -> Result<(usize, Lost), Damage> {
    let (mut begun, mut lost): (Option<Vec<u8>>, _) = (None, Lost::default());
    let mut end = behind;
    for (at, block) in log.chunks(BLOCK).enumerate() {
        let is_whole = block.len() == BLOCK;
        let block_end = at * BLOCK + block.len();
        let mut block =
            LevelDbReader(block.get(if at == 0 { behind } else { 0 }..).unwrap_or_default());
        while block.0.len() >= HEADER {
            let left = block.0.len();
            let (kind, piece) = match piece(&mut block, is_whole) {
                Ok(Some(found)) => found,
                Ok(None) => {
                    if let Some(begun) = begun.take().filter(|_| is_whole) {
                        lost.note(Damage::Bytes("a record without its end"), begun.len())?;
                    }
                    break;
                }
                Err(damage) => {
                    lost.note(damage, left + begun.take().map_or(0, |begun| begun.len()))?;
                    break;
                }
            };
            let record = match (kind, begun.take()) {
                // Where one was begun, its process died, and the next one went on behind it.
                (FULL, _) => Some(Cow::Borrowed(piece)),
                (FIRST, _) => {
                    begun = Some(piece.to_vec());
                    None
                }
                (MIDDLE, Some(mut record)) => {
                    record.extend_from_slice(piece);
                    begun = Some(record);
                    None
                }
                (LAST, Some(mut record)) => {
                    record.extend_from_slice(piece);
                    Some(Cow::Owned(record))
                }
                (MIDDLE | LAST, None) => {
                    let damage = Damage::Bytes("a piece of a record without its beginning");
                    lost.note(damage, piece.len())?;
                    None
                }
                (_, begun) => {
                    let bytes = piece.len() + begun.map_or(0, |begun| begun.len());
                    lost.note(Damage::Bytes("a piece of a record of an unknown kind"), bytes)?;
                    None
                }
            };
            let Some(record) = record else { continue };
            end = block_end - block.0.len();
            if let Err(damage) = each(&record) {
                lost.note(damage, record.len())?;
            }
        }
    }
    Ok((end, lost))
}

/// The next piece in a block; none when the rest of the block was never written. Only the last block
/// of a log is not whole, and only there can a piece be cut off.
fn piece<'a>(
    block: &mut LevelDbReader<'a>,
    is_whole: bool,
) -> Result<Option<(u8, &'a [u8])>, Damage> {
    let (Some(checksum), Some(length)) = (block.u32(), block.read_bytes(2)) else {
        return Ok(None);
    };
    let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
    // Room that was made and not filled.
    if checksum == 0 && length == 0 && block.0.first() == Some(&0) {
        return Ok(None);
    }
    let covered = block.0;
    let Some(piece) = block.read_bytes(1 + length) else {
        let cut_off = Damage::Bytes("a record that is longer than its block");
        return if is_whole { Err(cut_off) } else { Ok(None) };
    };
    if !is_sum(checksum, &covered[..=length]) {
        return Err(Damage::Bytes("a record whose checksum is another"));
    }
    Ok(Some((piece[0], &piece[1..])))
}

/// Appends a record to a log.
pub(super) fn append(log: &mut Vec<u8>, mut record: &[u8]) {
    let mut is_first = true;
    loop {
        let left = BLOCK - log.len() % BLOCK;
        if left < HEADER {
            log.resize(log.len() + left, 0);
            continue;
        }
        let (piece, rest) = record.split_at(record.len().min(left - HEADER));
        let kind = match (is_first, rest.is_empty()) {
            (true, true) => FULL,
            (true, false) => FIRST,
            (false, false) => MIDDLE,
            (false, true) => LAST,
        };
        let checksum = crc32c::crc32c_append(crc32c::crc32c(&[kind]), piece);
        log.extend_from_slice(&masked(checksum).to_le_bytes());
        log.extend_from_slice(&u16::try_from(piece.len()).unwrap_or_default().to_le_bytes());
        log.push(kind);
        log.extend_from_slice(piece);
        if rest.is_empty() {
            return;
        }
        (record, is_first) = (rest, false);
    }
}

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
        let lost = records(file, |edit| {
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
        append(&mut file, &edit);
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

    fn all(log: &[u8]) -> (Vec<Vec<u8>>, Lost) {
        let mut all = Vec::new();
        let lost = records(log, |record| {
            all.push(record.to_vec());
            Ok(())
        });
        (all, lost.unwrap())
    }

    fn whole(log: &[u8]) -> Vec<Vec<u8>> {
        let (all, lost) = all(log);
        assert!(lost.is_none(), "{lost}");
        all
    }

    #[test]
    fn records_of_any_size_are_read_back() {
        let sizes = [0, 1, BLOCK - HEADER, BLOCK - HEADER - 3, 5, 3 * BLOCK, 70];
        let wanted: Vec<Vec<u8>> = sizes.iter().map(|size| vec![7; *size]).collect();
        let mut log = Vec::new();
        for record in &wanted {
            append(&mut log, record);
        }
        assert_eq!(whole(&log), wanted);
    }

    #[test]
    fn what_was_being_written_is_not_there_and_is_no_damage() {
        let mut log = Vec::new();
        append(&mut log, b"whole");
        let end = log.len();
        append(&mut log, b"half");
        for cut in end..log.len() {
            assert_eq!(whole(&log[..cut]), [b"whole"]);
        }
        log.resize(BLOCK, 0);
        assert_eq!(whole(&log).len(), 2, "room that was not filled");
    }

    #[test]
    fn behind_what_is_damaged_the_next_block_is_read() {
        // Three blocks, whose last records reach into the next one.
        let wanted: Vec<Vec<u8>> = (0..90).map(|number| vec![number; 1000]).collect();
        let mut log = Vec::new();
        for record in &wanted {
            append(&mut log, record);
        }
        for (at, damaged) in [(HEADER + 1, 0..=32), (BLOCK + 2000, 34..=65)] {
            log[at] ^= 1;
            let (found, lost) = all(&log);
            log[at] ^= 1;
            let found: Vec<u8> = found.iter().map(|record| record[0]).collect();
            let left: Vec<u8> = (0..90).filter(|number| !damaged.contains(number)).collect();
            assert_eq!(found, left);
            assert_eq!(
                lost.place(),
                "2 damaged places",
                "the block, and an end without a beginning"
            );
            assert!((BLOCK - 3000..BLOCK + 1000).contains(&lost.bytes()), "{lost}");
        }
    }

    #[test]
    fn what_cannot_be_used_of_a_record_costs_that_record() {
        let mut log = Vec::new();
        for record in [b"one", b"two", b"six"] {
            append(&mut log, record);
        }
        let mut all = 0;
        let lost = records(&log, |record| {
            all += 1;
            if record == b"two" { Err(Damage::Bytes("a test")) } else { Ok(()) }
        });
        assert_eq!((all, lost.unwrap().place().as_str()), (3, "1 damaged place"));
        assert_eq!(records(&log, |_| Err(Damage::TooMuch)), Err(Damage::TooMuch));
    }

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
