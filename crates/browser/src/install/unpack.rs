//! A browser out of its ZIP file, into a folder that is not taken for one yet.
//!
//! The one idea: all that the list of the ZIP says is judged before anything is written: no path leads out, no
//! entry is a link or a device, and number and sizes have bounds. Then each file is made anew below a folder
//! that nobody else writes in, so there is nothing to follow. No entry becomes larger than its list says, and
//! its CRC-32 is checked when it ends.

use super::InstallStep;
use super::download::FILE_LIMIT;
use super::error::{Bytes, InstallError};
use super::space::expect_free;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};
use tempfile::TempDir;
use zip::ZipArchive;
use zip::read::Config;
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;

/// How the folder begins in which a browser is unpacked.
pub(super) const STAGE: &str = ".unpacking-";
/// The program of a browser.
pub(super) const PROGRAM: &str = "chrome";
/// The most entries; a browser has some hundreds.
const ENTRIES: usize = 20_000;
/// The most bytes of all files; a browser has some hundred megabytes.
const UNPACKED_LIMIT: u64 = 4 << 30;
/// What a file takes on disk beside its bytes, at most.
const BLOCK: u64 = 4096;
/// The bits of a mode that say what kind of file it is, those of a plain one, and of a folder (`inode(7)`).
const KIND: u32 = 0o170_000;
const PLAIN: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;

type Archive = ZipArchive<BufReader<File>>;

/// A file to be written.
struct PlannedFile {
    index: usize,
    /// Where, below the one folder of the ZIP.
    path: PathBuf,
    is_program: bool,
}

/// Unpacks a ZIP into a new folder in `folder`, without the folder that all of it lies in; all is on disk
/// then. The new folder goes when this does.
pub(super) fn unpack(
    zip: &Path,
    folder: &Path,
    progress: &dyn Fn(InstallStep),
) -> Result<TempDir, InstallError> {
    let mut archive = open(zip)?;
    let (files, total) = plan(&mut archive)?;
    let on_disk = total.saturating_add(BLOCK.saturating_mul(files.len() as u64));
    expect_free("the unpacked browser", on_disk, folder)?;
    let stage = tempfile::Builder::new()
        .prefix(STAGE)
        .tempdir_in(folder)
        .map_err(InstallError::file("make a folder in", folder))?;
    let mut folders = BTreeSet::from([stage.path().to_owned()]);
    let mut done = 0;
    for file in &files {
        progress(InstallStep::Unpacking { done, total });
        let path = stage.path().join(&file.path);
        let mut parents = path.ancestors().skip(1).take_while(|one| *one != stage.path());
        folders.extend(parents.by_ref().map(Path::to_owned));
        done += write(&mut archive, file, &path)?;
    }
    for path in &folders {
        File::open(path)
            .and_then(|folder| folder.sync_all())
            .map_err(InstallError::file("write", path))?;
    }
    Ok(stage)
}

fn open(path: &Path) -> Result<Archive, InstallError> {
    let file = File::open(path).map_err(InstallError::file("open", path))?;
    let found = file.metadata().map_err(InstallError::file("read", path))?;
    if !found.is_file() {
        return Err(InstallError::NotAZip(format!("{} is no file", path.display())));
    }
    expect_within("a ZIP file", found.len(), FILE_LIMIT)?;
    // Its list is counted before it is read into memory.
    let counted =
        ZipIterable::try_new(&file, Config::default()).map_err(|error| no_zip(error, path))?;
    if counted.len() > ENTRIES {
        let (most, found) = (format!("{ENTRIES} entries"), counted.len().to_string());
        return Err(InstallError::TooLarge { what: "a ZIP file", most, found });
    }
    ZipArchive::new(BufReader::new(file)).map_err(|error| no_zip(error, path))
}

/// What is to be written, and how many bytes that is.
fn plan(archive: &mut Archive) -> Result<(Vec<PlannedFile>, u64), InstallError> {
    let no_list = |error| no_zip(error, Path::new(""));
    if archive.has_duplicate_names() || archive.has_overlapping_entries().map_err(no_list)? {
        return Err(InstallError::NotAZip("entries that lie in each other".to_owned()));
    }
    let (mut files, mut total, mut roots) = (Vec::new(), 0_u64, BTreeSet::new());
    for index in 0..archive.len() {
        let entry = archive.by_index_data(index).map_err(no_list)?;
        let name = entry.name().map_err(no_list)?.into_owned();
        let refuse = |why| InstallError::Refused { name: name.clone(), why };
        let kind = entry.unix_mode().unwrap_or_default() & KIND;
        if entry.is_symlink() || !matches!(kind, 0 | PLAIN | FOLDER) {
            return Err(refuse("it is a link, or no plain file"));
        }
        let (root, path) = inside(&name).ok_or_else(|| refuse("its path leads elsewhere"))?;
        roots.insert(root);
        if entry.is_dir() {
            continue;
        }
        let path = path.ok_or_else(|| refuse("it lies in no folder"))?;
        total = total.saturating_add(entry.size());
        expect_within("a browser", total, UNPACKED_LIMIT)?;
        let is_program = entry.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
        files.push(PlannedFile { index, path, is_program });
    }
    let is_browser = |file: &PlannedFile| file.path == Path::new(PROGRAM) && file.is_program;
    if roots.len() != 1 || !files.iter().any(is_browser) {
        let shown: Vec<String> = roots.into_iter().take(5).collect();
        return Err(InstallError::NoProgram(match shown.len() {
            0 => "an empty one".to_owned(),
            _ => format!("one with {} at its top", shown.join(", ")),
        }));
    }
    Ok((files, total))
}

/// The first folder of a path that leads nowhere else, and what is below that.
fn inside(name: &str) -> Option<(String, Option<PathBuf>)> {
    if name.contains(['\\', '\0']) {
        return None;
    }
    let mut parts = Vec::new();
    for part in Path::new(name).components() {
        match part {
            Component::Normal(part) => parts.push(part.to_str()?),
            _ => return None,
        }
    }
    let (root, below) = parts.split_first()?;
    let path = (!below.is_empty()).then(|| below.iter().collect());
    Some(((*root).to_owned(), path))
}

/// Writes one file, and says how long it is.
fn write(archive: &mut Archive, file: &PlannedFile, path: &Path) -> Result<u64, InstallError> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(InstallError::file("create", parent))?;
    }
    let mode = if file.is_program { 0o755 } else { 0o644 };
    let mut options = OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(mode).open(path);
    let mut to = opened.map_err(InstallError::file("create", path))?;
    let mut entry = archive.by_index(file.index).map_err(|error| no_zip(error, path))?;
    let size = entry.size();
    let copied = io::copy(&mut entry, &mut to).and_then(|copied| to.sync_all().map(|()| copied));
    match copied {
        Ok(copied) if copied == size => Ok(copied),
        Ok(copied) => {
            let name = file.path.display();
            Err(InstallError::NotAZip(format!("{name} with {copied} bytes instead of {size}")))
        }
        Err(error) => Err(not_copied(error, file, path)),
    }
}

/// A ZIP that is damaged is told from a disk that is.
fn not_copied(error: io::Error, file: &PlannedFile, path: &Path) -> InstallError {
    match error.kind() {
        ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof => {
            InstallError::NotAZip(format!("{} is damaged ({error})", file.path.display()))
        }
        _ => InstallError::file("write", path)(error),
    }
}

fn no_zip(error: ZipError, path: &Path) -> InstallError {
    match error {
        ZipError::Io(error) if error.kind() != ErrorKind::UnexpectedEof => {
            InstallError::file("read", path)(error)
        }
        other => InstallError::NotAZip(other.to_string()),
    }
}

fn expect_within(what: &'static str, found: u64, most: u64) -> Result<(), InstallError> {
    if found <= most {
        return Ok(());
    }
    let (most, found) = (Bytes(most).to_string(), Bytes(found).to_string());
    Err(InstallError::TooLarge { what, most, found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_in_the_one_folder() {
        let of = |name| inside(name).map(|(root, path)| (root, path.unwrap_or_default()));
        assert_eq!(of("a/b/c"), Some(("a".to_owned(), "b/c".into())));
        assert_eq!(of("a/"), Some(("a".to_owned(), PathBuf::new())));
        for name in ["", "/", "/etc/passwd", "a/../../b", "../a", "a\\..\\b", "a/\0", "./a/b"] {
            assert_eq!(of(name), None, "{name:?}");
        }
    }
}
