//! Reads a whole database, from files that another process may be writing.

use super::bytes::Bytes;
use super::lost::Lost;
use super::manifest::Manifest;
use super::{DELETION, Damage, Found, LevelDbError, Rows, VALUE, log, table};
use crate::profile::bounds::{self, Budget, LARGEST};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// How often it is begun anew when a browser replaces its files meanwhile.
const ATTEMPTS: usize = 5;
/// The file that names the manifest that counts, and how the names of manifests begin.
const CURRENT: &str = "CURRENT";
const MANIFEST: &str = "MANIFEST-";

/// Reads the database in `folder` and changes nothing in it; none when there is none. Blocks on the disk.
pub(in crate::profile) fn read(folder: &Path) -> Result<Option<Found>, LevelDbError> {
    if !holds_files(folder)? {
        return Ok(None);
    }
    for _ in 1..ATTEMPTS {
        match read_once(folder, LARGEST) {
            Ok(None) => {}
            Err(LevelDbError::File { source, .. }) if source.kind() == ErrorKind::NotFound => {}
            Ok(Some(found)) => return Ok(Some(found)),
            Err(error) => return Err(error),
        }
    }
    match read_once(folder, LARGEST) {
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
/// table that was not named yet. `limit` bounds the bytes of the files, and those of the rows.
pub(super) fn read_once(folder: &Path, limit: u64) -> Result<Option<Found>, LevelDbError> {
    let mut files = Files { folder, left: limit };
    let (name, file) = files.manifest()?;
    let manifest = Manifest::parse(&file).map_err(|damage| files.damaged(&name, damage))?;
    let mut newest = Newest { rows: BTreeMap::new(), budget: Budget::new(limit) };
    let (mut budget, mut lost) = (Budget::new(limit), Lost::default());
    for number in &manifest.tables {
        let (name, file) = files.table(*number)?;
        let read = table::rows(&file, &mut budget, |key, value| {
            let (key, tail) = key.split_last_chunk::<8>().ok_or(Damage::Bytes("a key"))?;
            let tail = u64::from_le_bytes(*tail);
            newest.put(key, tail >> 8, &[tail.to_le_bytes()[0]], value)
        });
        lost.add(&name, &read.map_err(|damage| files.damaged(&name, damage))?);
    }
    for number in files.logs(&manifest)? {
        let name = format!("{number:06}.log");
        let file = files.read(&name)?;
        let read = log::records(&file, |batch| newest.put_batch(Bytes(batch)));
        lost.add(&name, &read.map_err(|damage| files.damaged(&name, damage))?);
    }
    let is_same = files.manifest()? == (name, file);
    Ok(is_same.then(|| Found { rows: newest.rows(), lost }))
}

/// The newest value of each key, or that it was deleted, with the number of the write.
struct Newest {
    rows: BTreeMap<Vec<u8>, (u64, Option<Vec<u8>>)>,
    budget: Budget,
}

impl Newest {
    /// Notes a row, if it is the newest of its key.
    fn put(&mut self, key: &[u8], at: u64, kind: &[u8], value: &[u8]) -> Result<(), Damage> {
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
    fn put_batch(&mut self, mut batch: Bytes<'_>) -> Result<(), Damage> {
        const DAMAGED: Damage = Damage::Bytes("a batch of rows");
        let (mut at, count) = (batch.u64().ok_or(DAMAGED)?, batch.u32().ok_or(DAMAGED)?);
        for _ in 0..count {
            let kind = batch.take(1).ok_or(DAMAGED)?;
            let key = batch.slice().ok_or(DAMAGED)?;
            let value = if kind == [VALUE] { batch.slice().ok_or(DAMAGED)? } else { &[] };
            self.put(key, at, kind, value)?;
            at = at.saturating_add(1);
        }
        Ok(())
    }

    fn rows(self) -> Rows {
        let newest = self.rows.into_iter();
        newest.filter_map(|(key, (_, value))| Some((key, value?))).collect()
    }
}

/// The files of a database, and how many bytes may still be read of them.
struct Files<'a> {
    folder: &'a Path,
    left: u64,
}

impl Files<'_> {
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
        let read = bounds::read(&path, self.left);
        let file = read.map_err(|source| LevelDbError::File { path, source })?;
        self.left = self.left.saturating_sub(file.len() as u64);
        Ok(file)
    }

    fn damaged(&self, name: &str, damage: Damage) -> LevelDbError {
        LevelDbError::Damaged { path: self.folder.join(name), what: damage.what() }
    }
}
