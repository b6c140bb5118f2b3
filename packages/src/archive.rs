//! Archives: tar with gzip, and zip, the same bytes for the same files.

use anyhow::{Context as _, Result};
use flate2::{Compression, GzBuilder};
use std::collections::BTreeSet;
use std::fs;
use std::io::{Cursor, Write as _};
use std::path::Path;
use tar::{EntryType, Header};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// A file of an archive.
#[derive(Clone)]
pub(crate) struct Entry {
    /// From the root of the archive.
    pub(crate) path: String,
    /// Its permissions.
    mode: u32,
    /// What it holds.
    pub(crate) bytes: Vec<u8>,
}

impl Entry {
    /// A file that is read.
    pub(crate) fn text(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), mode: 0o644, bytes: bytes.into() }
    }

    /// A file that is run.
    pub(crate) fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), mode: 0o755, bytes: bytes.into() }
    }
}

/// The files below a folder, in order.
pub(crate) fn below(folder: &Path) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let listed =
            fs::read_dir(&next).with_context(|| format!("expected a folder {}", next.display()))?;
        for file in listed {
            let path = file?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder)?.to_string_lossy().into_owned();
            entries.push(Entry::text(name, fs::read(&path)?));
        }
    }
    entries.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(entries)
}

/// A tar archive of root's files with their folders, which `dpkg` expects ahead of them, in gzip.
pub(crate) fn tar_gz(entries: &[Entry], time: u64) -> Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    let mut folders = BTreeSet::new();
    for entry in entries {
        for (end, _) in entry.path.match_indices('/') {
            let folder = entry.path.get(..=end).unwrap_or_default();
            if folders.insert(folder) {
                let mut header = header(EntryType::Directory, 0o755, 0, time);
                tar.append_data(&mut header, folder, std::io::empty())?;
            }
        }
        let mut header = header(EntryType::Regular, entry.mode, entry.bytes.len() as u64, time);
        tar.append_data(&mut header, &entry.path, entry.bytes.as_slice())?;
    }
    gzip(&tar.into_inner()?)
}

fn header(kind: EntryType, mode: u32, size: u64, time: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(size);
    header.set_mtime(time);
    header.set_uid(0);
    header.set_gid(0);
    header
}

/// Bytes in gzip, without a name and a time.
pub(crate) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut gzip = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    gzip.write_all(bytes)?;
    Ok(gzip.finish()?)
}

/// A zip archive.
pub(crate) fn zip(entries: &[Entry], time: u64) -> Result<Vec<u8>> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(9))
        .last_modified_time(zip_time(time)?);
    for entry in entries {
        zip.start_file(&entry.path, options.unix_permissions(entry.mode))?;
        zip.write_all(&entry.bytes)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// A time as zip writes it, which has none before 1980.
fn zip_time(time: u64) -> Result<DateTime> {
    let time =
        jiff::Timestamp::from_second(i64::try_from(time)?)?.to_zoned(jiff::tz::TimeZone::UTC);
    let (Ok(year), Ok(month), Ok(day)) =
        (u16::try_from(time.year()), u8::try_from(time.month()), u8::try_from(time.day()))
    else {
        return Ok(DateTime::default());
    };
    Ok(DateTime::from_date_and_time(year, month, day, 0, 0, 0).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{Entry, tar_gz, zip};
    use std::io::Read as _;

    fn entries() -> [Entry; 2] {
        [Entry::program("usr/bin/baton", "program"), Entry::text("usr/share/a", "text")]
    }

    #[test]
    fn a_tar_has_folders_ahead_of_their_files_and_the_same_bytes_again() {
        let packed = tar_gz(&entries(), 1_700_000_000).unwrap();
        assert_eq!(packed, tar_gz(&entries(), 1_700_000_000).unwrap());
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(packed.as_slice()));
        let found: Vec<(String, u32)> = archive
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let path = entry.path().unwrap().to_string_lossy().into_owned();
                (path, entry.header().mode().unwrap())
            })
            .collect();
        let expected = [
            ("usr/", 0o755),
            ("usr/bin/", 0o755),
            ("usr/bin/baton", 0o755),
            ("usr/share/", 0o755),
            ("usr/share/a", 0o644),
        ];
        assert_eq!(found, expected.map(|(path, mode)| (path.to_owned(), mode)));
    }

    #[test]
    fn a_zip_keeps_what_is_run_apart() {
        let packed = zip(&entries(), 0).unwrap();
        let mut archive = zip::ZipArchive::new(std::io::Cursor::new(packed)).unwrap();
        let mut file = archive.by_index(0).unwrap();
        assert_eq!(file.unix_mode().unwrap() & 0o777, 0o755);
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "program");
    }
}
