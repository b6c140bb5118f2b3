//! Reads a whole database, from files that another process may be writing.

use super::bytes::Bytes;
use super::manifest::Manifest;
use super::{DELETION, Damage, LevelDbError, Rows, VALUE, log, table};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The most bytes of files, and of rows, that are read into memory.
const LARGEST: usize = 512 << 20;
/// How often it is begun anew when a browser replaces its files meanwhile.
const ATTEMPTS: usize = 5;

/// The newest value of each key that was not deleted, by key, with the number of its write.
type Newest = BTreeMap<Vec<u8>, (u64, Option<Vec<u8>>)>;

/// Reads the database in `folder` and changes nothing in it. Blocks on the disk.
pub(in crate::profile) fn read(folder: &Path) -> Result<Rows, LevelDbError> {
    let mut attempt = 1;
    loop {
        match read_once(folder) {
            Err(LevelDbError::File { source, .. })
                if source.kind() == ErrorKind::NotFound && attempt < ATTEMPTS =>
            {
                attempt += 1;
            }
            read => return read,
        }
    }
}

fn read_once(folder: &Path) -> Result<Rows, LevelDbError> {
    let mut files = Files { folder, left: LARGEST };
    let (name, file) = files.manifest()?;
    let manifest = Manifest::parse(&file).map_err(|damage| files.damaged(&name, damage))?;
    let (mut newest, mut budget) = (Newest::new(), LARGEST);
    for number in &manifest.tables {
        let (name, file) = files.table(*number)?;
        let read = table::rows(&file, &mut budget, |key, value| {
            let (key, tail) = key.split_last_chunk::<8>().ok_or(Damage("a key"))?;
            let tail = u64::from_le_bytes(*tail);
            put(&mut newest, key, tail >> 8, &[tail.to_le_bytes()[0]], value)
        });
        read.map_err(|damage| files.damaged(&name, damage))?;
    }
    for number in files.logs(&manifest)? {
        let name = format!("{number:06}.log");
        let file = files.read(&name)?;
        let read = log::records(&file).and_then(|batches| {
            batches.iter().try_for_each(|batch| put_batch(&mut newest, Bytes(batch)))
        });
        read.map_err(|damage| files.damaged(&name, damage))?;
    }
    Ok(newest.into_iter().filter_map(|(key, (_, value))| Some((key, value?))).collect())
}

/// Notes a row, if it is the newest of its key.
fn put(newest: &mut Newest, key: &[u8], at: u64, kind: &[u8], value: &[u8]) -> Result<(), Damage> {
    let value = match kind {
        [VALUE] => Some(value.to_vec()),
        [DELETION] => None,
        _ => return Err(Damage("a row of an unknown kind")),
    };
    match newest.get_mut(key) {
        Some((known, _)) if *known > at => {}
        Some(known) => *known = (at, value),
        None => {
            newest.insert(key.to_vec(), (at, value));
        }
    }
    Ok(())
}

/// Notes the rows of a batch, as the log has it (`db/write_batch.cc`).
fn put_batch(newest: &mut Newest, mut batch: Bytes<'_>) -> Result<(), Damage> {
    const DAMAGED: Damage = Damage("a batch of rows");
    let (first, count) = (batch.u64().ok_or(DAMAGED)?, batch.u32().ok_or(DAMAGED)?);
    for at in (first..).take(usize::try_from(count).unwrap_or(usize::MAX)) {
        let kind = batch.take(1).ok_or(DAMAGED)?;
        let key = batch.slice().ok_or(DAMAGED)?;
        let value = if kind == [VALUE] { batch.slice().ok_or(DAMAGED)? } else { &[] };
        put(newest, key, at, kind, value)?;
    }
    Ok(())
}

/// The files of a database, and how many bytes may still be read of them.
struct Files<'a> {
    folder: &'a Path,
    left: usize,
}

impl Files<'_> {
    /// The manifest that counts, with its name.
    fn manifest(&mut self) -> Result<(String, Vec<u8>), LevelDbError> {
        let current = self.read("CURRENT")?;
        let name = String::from_utf8(current).unwrap_or_default().trim_end().to_owned();
        let number = name.strip_prefix("MANIFEST-").map(str::parse::<u64>);
        if !matches!(number, Some(Ok(_))) {
            return Err(self.damaged("CURRENT", Damage("no name of a manifest")));
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
        let read = bounded(&path, self.left);
        let file = read.map_err(|source| LevelDbError::File { path, source })?;
        self.left -= file.len();
        Ok(file)
    }

    fn damaged(&self, name: &str, Damage(what): Damage) -> LevelDbError {
        LevelDbError::Damaged { path: self.folder.join(name), what }
    }
}

/// A file of at most `limit` bytes.
fn bounded(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    let size = fs::metadata(path)?.len();
    if size > limit as u64 {
        return Err(io::Error::new(ErrorKind::FileTooLarge, "more than 512 MiB are too many"));
    }
    fs::read(path)
}
