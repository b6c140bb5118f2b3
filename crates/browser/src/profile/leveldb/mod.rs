//! `LevelDB`, as far as a profile needs it: a whole database is read at once, or written anew.
//!
//! The one idea: what is on a disk is not trusted. A file is read into memory, so that nothing of it is ever
//! touched; every length is checked before it is believed, and every checksum is compared. Behind what is
//! damaged we read on, as a browser does, and say what we passed over; damage to what says which files
//! are the database is an error that names the file. A database is written as one sorted table, so that a
//! browser has nothing to recover when it opens it.

mod log;
mod table;
pub(super) mod written;

use super::is_ours;
use super::memory::{Budget, LARGEST, TooMuch};
use crate::plain;
use log::{Manifest, NewTable};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

/// Every key and its value, in the order of the bytes of the keys.
pub(super) type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

/// What a database holds.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) rows: Rows,
    pub(super) lost: Lost,
}

/// What of a file is not as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Damage {
    /// Bytes that one can pass over.
    Bytes(&'static str),
    /// More than is wanted, and no damage that one could read behind.
    TooMuch,
}

impl Damage {
    fn what(self) -> &'static str {
        match self {
            Self::Bytes(what) => what,
            Self::TooMuch => "more than 512 MiB of rows",
        }
    }
}

impl From<TooMuch> for Damage {
    fn from(_: TooMuch) -> Self {
        Self::TooMuch
    }
}

/// Why a database could not be read or written.
#[derive(Debug, thiserror::Error)]
pub(super) enum LevelDbError {
    #[error("could not read or write {}: {source}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("expected a whole LevelDB, found in {} {what}", path.display())]
    Damaged { path: PathBuf, what: &'static str },
    #[error("expected a whole LevelDB in {}, found one without the file CURRENT, which names its parts", path.display())]
    NoCurrent { path: PathBuf },
    #[error("expected {} to stay as it is while it is read, found it changed all the time", path.display())]
    Busy { path: PathBuf },
}

impl LevelDbError {
    /// Whether that is the fault of this machine, and not of the database.
    pub(super) fn is_ours(&self) -> bool {
        match self {
            Self::File { source, .. } => is_ours(source),
            Self::Busy { .. } => true,
            Self::Damaged { .. } | Self::NoCurrent { .. } => false,
        }
    }
}

/// The kinds of rows (`db/dbformat.h`).
const DELETION: u8 = 0;
const VALUE: u8 = 1;

/// Places of a database that could not be read. What was behind them was read on, as Chromium does: it
/// has neither `paranoid_checks` nor an error for a bad record (`db/log_reader.cc`, `db/db_impl.cc`).
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Lost {
    places: usize,
    bytes: usize,
    /// What the first one is, and in which file.
    first: Option<(String, &'static str)>,
}

impl Lost {
    /// Notes a place of so many bytes; too much is none that one could read behind.
    fn note(&mut self, damage: Damage, bytes: usize) -> Result<(), Damage> {
        let Damage::Bytes(what) = damage else { return Err(damage) };
        self.places += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.first.get_or_insert((String::new(), what));
        Ok(())
    }

    /// Adds what of the file with this name was lost.
    fn add(&mut self, name: &str, other: &Self) {
        self.places += other.places;
        self.bytes = self.bytes.saturating_add(other.bytes);
        if let Some(what) = other.first() {
            self.first.get_or_insert((name.to_owned(), what));
        }
    }

    /// Whether everything was read.
    pub(in crate::profile) fn is_none(&self) -> bool {
        self.places == 0
    }

    /// What the first place is.
    fn first(&self) -> Option<&'static str> {
        self.first.as_ref().map(|(_, what)| *what)
    }

    #[cfg(test)]
    fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many places, for the name of what was lost.
    pub(in crate::profile) fn place(&self) -> String {
        let places = if self.places == 1 { "place" } else { "places" };
        format!("{} damaged {places}", self.places)
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, what) = self.first.as_ref().map_or(("", ""), |(name, what)| (name, *what));
        let bytes = self.bytes;
        write!(f, "expected a whole LevelDB, found {bytes} bytes damaged, first in {name} {what}")
    }
}

/// How often it is begun anew when a browser replaces its files meanwhile.
const ATTEMPTS: usize = 5;
/// The file that names the manifest that counts, and how the names of manifests begin.
const CURRENT: &str = "CURRENT";
const MANIFEST: &str = "MANIFEST-";

/// Reads the database in `folder` and changes nothing in it; none when there is none. Blocks on the disk.
pub(super) fn read(folder: &Path) -> Result<Option<Contents>, LevelDbError> {
    read_rows(folder, LARGEST, |_| true)
}

/// The same of the rows whose keys are `wanted`. `limit` bounds the bytes of the files, and those of all rows.
pub(super) fn read_rows(
    folder: &Path,
    limit: u64,
    wanted: fn(&[u8]) -> bool,
) -> Result<Option<Contents>, LevelDbError> {
    if !holds_files(folder)? {
        return Ok(None);
    }
    for _ in 1..ATTEMPTS {
        match read_once(folder, limit, wanted) {
            Ok(None) => {}
            Err(LevelDbError::File { source, .. }) if source.kind() == ErrorKind::NotFound => {}
            Ok(Some(found)) => return Ok(Some(found)),
            Err(error) => return Err(error),
        }
    }
    match read_once(folder, limit, wanted) {
        Err(LevelDbError::File { path, source })
            if source.kind() == ErrorKind::NotFound && path.ends_with(CURRENT) =>
        {
            Err(LevelDbError::NoCurrent { path: folder.to_owned() })
        }
        Ok(None) => Err(LevelDbError::Busy { path: folder.to_owned() }),
        found => found,
    }
}

/// Whether a folder has any file of a database: one without the file that names the others is a damaged
/// database, and none that is empty.
fn holds_files(folder: &Path) -> Result<bool, LevelDbError> {
    let failed = |source| LevelDbError::File { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        entries => entries.map_err(failed)?,
    };
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        let name = name.to_string_lossy();
        let has_end = [".ldb", ".sst", ".log"].iter().any(|end| name.ends_with(end));
        if has_end || name == CURRENT || name.starts_with(MANIFEST) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// None when a browser made other files the database meanwhile: a log may be gone whose rows are in a
/// table that was not named yet.
fn read_once(
    folder: &Path,
    limit: u64,
    wanted: fn(&[u8]) -> bool,
) -> Result<Option<Contents>, LevelDbError> {
    let mut files = DatabaseFiles { folder, left: limit };
    let (name, file) = files.manifest()?;
    let manifest = Manifest::parse(&file).map_err(|damage| files.damaged(&name, damage))?;
    let mut newest = Newest { rows: BTreeMap::new(), budget: Budget::new(limit), wanted };
    let (mut budget, mut lost) = (Budget::new(limit), Lost::default());
    for number in &manifest.tables {
        let (name, file) = files.table(*number)?;
        let read = table::rows(&file, &mut budget, |key, value| {
            let (key, tail) = key.split_last_chunk::<8>().ok_or(Damage::Bytes("a key"))?;
            let tail = u64::from_le_bytes(*tail);
            newest.note_row(key, tail >> 8, &[tail.to_le_bytes()[0]], value)
        });
        lost.add(&name, &read.map_err(|damage| files.damaged(&name, damage))?);
    }
    for number in files.logs(&manifest)? {
        let name = format!("{number:06}.log");
        let file = files.read(&name)?;
        let read = log::records(&file, |batch| newest.put_batch(LevelDbReader(batch)));
        lost.add(&name, &read.map_err(|damage| files.damaged(&name, damage))?);
    }
    let is_same = files.manifest()? == (name, file);
    Ok(is_same.then(|| Contents { rows: newest.rows(), lost }))
}

/// The newest value of each key, or that it was deleted, with the number of the write.
struct Newest {
    rows: BTreeMap<Vec<u8>, (u64, Option<Vec<u8>>)>,
    budget: Budget,
    /// Of which keys.
    wanted: fn(&[u8]) -> bool,
}

impl Newest {
    /// Notes a row, if it is the newest of its key.
    fn note_row(&mut self, key: &[u8], at: u64, kind: &[u8], value: &[u8]) -> Result<(), Damage> {
        if !(self.wanted)(key) {
            return Ok(());
        }
        self.budget.take_row(key.len().saturating_add(value.len()))?;
        let value = match kind {
            [VALUE] => Some(value.to_vec()),
            [DELETION] => None,
            _ => return Err(Damage::Bytes("a row of an unknown kind")),
        };
        match self.rows.get_mut(key) {
            Some((known, _)) if *known > at => {}
            Some(known) => *known = (at, value),
            None => {
                self.rows.insert(key.to_vec(), (at, value));
            }
        }
        Ok(())
    }

    /// Notes the rows of a batch, as the log has it (`db/write_batch.cc`).
    fn put_batch(&mut self, batch: LevelDbReader<'_>) -> Result<(), Damage> {
        batch.rows_of_batch(|at, kind, key, value| self.note_row(key, at, kind, value))
    }

    fn rows(self) -> Rows {
        let newest = self.rows.into_iter();
        newest.filter_map(|(key, (_, value))| Some((key, value?))).collect()
    }
}

/// The files of a database, and how many bytes may still be read of them.
struct DatabaseFiles<'a> {
    folder: &'a Path,
    left: u64,
}

impl DatabaseFiles<'_> {
    /// The manifest that counts, with its name.
    fn manifest(&mut self) -> Result<(String, Vec<u8>), LevelDbError> {
        let current = self.read(CURRENT)?;
        let name = String::from_utf8(current).unwrap_or_default().trim_end().to_owned();
        let number = name.strip_prefix(MANIFEST).map(str::parse::<u64>);
        if !matches!(number, Some(Ok(_))) {
            return Err(self.damaged(CURRENT, Damage::Bytes("no name of a manifest")));
        }
        let file = self.read(&name)?;
        Ok((name, file))
    }

    /// A table, with its name: newer databases have `.ldb`, older ones `.sst`.
    fn table(&mut self, number: u64) -> Result<(String, Vec<u8>), LevelDbError> {
        let name = format!("{number:06}.ldb");
        match self.read(&name) {
            Err(LevelDbError::File { source, .. }) if source.kind() == ErrorKind::NotFound => {
                let name = format!("{number:06}.sst");
                self.read(&name).map(|file| (name, file))
            }
            file => file.map(|file| (name, file)),
        }
    }

    /// The numbers of the logs, the oldest first.
    fn logs(&self, manifest: &Manifest) -> Result<Vec<u64>, LevelDbError> {
        let failed = |source| LevelDbError::File { path: self.folder.to_owned(), source };
        let mut logs = Vec::new();
        for entry in fs::read_dir(self.folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let number = name.to_str().and_then(|name| name.strip_suffix(".log")?.parse().ok());
            logs.extend(number.filter(|number| manifest.has_log(*number)));
        }
        logs.sort_unstable();
        Ok(logs)
    }

    fn read(&mut self, name: &str) -> Result<Vec<u8>, LevelDbError> {
        let path = self.folder.join(name);
        let read = plain::read(&path, self.left);
        let file = read.map_err(|source| LevelDbError::File { path, source })?;
        self.left = self.left.saturating_sub(file.len() as u64);
        Ok(file)
    }

    fn damaged(&self, name: &str, damage: Damage) -> LevelDbError {
        LevelDbError::Damaged { path: self.folder.join(name), what: damage.what() }
    }
}

/// The number of the only table.
const TABLE: u64 = 2;
/// Where it is: deep enough that the browser has no reason to merge it with anything.
const LEVEL: u64 = 2;
/// The number of every row's write: each key has one row only.
const SEQUENCE: u64 = 1;

/// The file that is written last.
pub(super) const LAST_WRITTEN: &str = "CURRENT";

/// Writes a database with these rows, in the order of the bytes of their keys, into `folder`, which
/// exists and holds none. Nothing is synced. Blocks on the disk.
pub(super) fn write<'a>(
    folder: &Path,
    rows: impl Iterator<Item = (&'a [u8], &'a [u8])>,
) -> Result<(), LevelDbError> {
    let mut writer = table::TableWriter::default();
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

/// What is left to read.
#[derive(Debug, Clone, Copy)]
struct LevelDbReader<'a>(&'a [u8]);

impl<'a> LevelDbReader<'a> {
    /// The next `length` bytes.
    fn read_bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// The next byte.
    fn byte(&mut self) -> Option<u8> {
        self.read_bytes(1).map(|taken| taken[0])
    }

    /// A number of four bytes, the lowest first.
    fn u32(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*number))
    }

    /// A number of eight bytes, the lowest first.
    fn u64(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    /// A number in groups of seven bits, the lowest first.
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A length as a varint.
    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.varint()?).ok()
    }

    /// A slice behind its length.
    fn slice(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.read_bytes(length)
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Calls `each` with the number, the kind, the key and the value of every row of a batch, as the log has it.
    fn rows_of_batch(
        mut self,
        mut each: impl FnMut(u64, &[u8], &'a [u8], &'a [u8]) -> Result<(), Damage>,
    ) -> Result<(), Damage> {
        const DAMAGED: Damage = Damage::Bytes("a batch of rows");
        let (mut at, count) = (self.u64().ok_or(DAMAGED)?, self.u32().ok_or(DAMAGED)?);
        for _ in 0..count {
            let kind = self.read_bytes(1).ok_or(DAMAGED)?;
            let key = self.slice().ok_or(DAMAGED)?;
            let value = if kind == [VALUE] { self.slice().ok_or(DAMAGED)? } else { &[] };
            each(at, kind, key, value)?;
            at = at.saturating_add(1);
        }
        Ok(())
    }
}

/// Appends a number in groups of seven bits.
fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(u8::try_from(number & 0x7f).unwrap_or_default() | 0x80);
        number >>= 7;
    }
    out.push(u8::try_from(number).unwrap_or_default());
}

/// Appends a slice behind its length.
fn put_slice(out: &mut Vec<u8>, slice: &[u8]) {
    put_varint(out, slice.len() as u64);
    out.extend_from_slice(slice);
}

/// Whether a checksum that is stored is the one of `covered`. Every one is, while a fuzzer changes
/// bytes: it would never find the one that fits.
fn is_sum(stored: u32, covered: &[u8]) -> bool {
    stored == masked(crc32c::crc32c(covered)) || cfg!(fuzzing)
}

/// A checksum as it is stored: rotated and moved, because checksums are often taken of bytes that hold
/// some themselves (`util/crc32c.h`).
fn masked(checksum: u32) -> u32 {
    checksum.rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests;
