//! A folder as a tar archive, for its reader outside of the sandbox.
//!
//! The one idea: what is not in the archive counts as deleted. So what cannot be read is in it by its name, with the
//! reason; and where this machine fails, the tool does. All files in a sandbox are of the user who runs this, so what a
//! command there has closed is opened.

use crate::provider::UNREAD;
use rustix::io::Errno;
use std::fs::{DirEntry, File, Metadata, Permissions, ReadDir};
use std::io::{BufWriter, Error, Write, empty, stdout};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use std::{fs, io};
use tar::{Builder, EntryType, Header};

/// How much is written at once, in bytes.
const CHUNK: usize = 256 << 10;

/// What its owner needs to pass through a folder, to list it and what is in it, and to read a file.
const PASS: u32 = 0o100;
const LIST: u32 = 0o500;
const READ: u32 = 0o400;

/// What is wrong with a place, and not with this machine (`errno(3)`).
const OF_A_PLACE: [Errno; 7] = [
    Errno::ACCESS,
    Errno::LOOP,
    Errno::NAMETOOLONG,
    Errno::NOENT,
    Errno::NOTDIR,
    Errno::PERM,
    Errno::STALE,
];

/// Every file says to the nanosecond when it was written (POSIX, `pax`): of two databases the one counts
/// that was written later. Sockets and the like are left out, and what has a name that is no UTF-8.
pub(super) fn pack(path: &Path) -> io::Result<()> {
    let mut archive = Builder::new(BufWriter::with_capacity(CHUNK, stdout().lock()));
    archive.follow_symlinks(false);
    // A file with holes goes as if it had none: its reader takes no descriptions of holes.
    archive.sparse(false);
    let above: Vec<&Path> = path.ancestors().skip(1).collect();
    for folder in above.into_iter().rev() {
        // Whether it can be passed is told by what is behind it.
        if let Ok(found) = fs::metadata(folder) {
            allow(folder, &found, PASS);
        }
    }
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let entries = match list(&path.join(&folder)) {
            Ok(entries) => entries,
            Err(error) => {
                leave(&mut archive, &folder, error)?;
                continue;
            }
        };
        for entry in entries {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let name = folder.join(name);
            match Found::of(&entry) {
                Ok(found) => {
                    if matches!(found, Found::Folder(_)) {
                        folders.push(name.clone());
                    }
                    found.add_to(&mut archive, &name)?;
                }
                Err(error) => leave(&mut archive, &name, error)?,
            }
        }
    }
    archive.into_inner()?.flush()
}

/// Adds to what its owner may do with a file or a folder, where that is not enough. Where the caller is not its owner it
/// stays closed, which is told when it is read.
fn allow(path: &Path, found: &Metadata, needed: u32) {
    let mode = found.mode();
    if mode & needed != needed {
        let _ = fs::set_permissions(path, Permissions::from_mode(mode & 0o7777 | needed));
    }
}

fn list(folder: &Path) -> io::Result<ReadDir> {
    allow(folder, &fs::metadata(folder)?, LIST);
    fs::read_dir(folder)
}

/// What stands in a folder, as far as it takes to read it.
enum Found {
    Folder(Metadata),
    Link(Metadata, PathBuf),
    File(Metadata, File),
    /// A socket or the like.
    Other,
}

impl Found {
    /// Opens it. Nothing is written before this is known to be possible.
    fn of(entry: &DirEntry) -> io::Result<Self> {
        let (found, path) = (entry.metadata()?, entry.path());
        let kind = found.file_type();
        if kind.is_dir() {
            return Ok(Self::Folder(found));
        }
        if kind.is_symlink() {
            let to = fs::read_link(&path)?;
            return Ok(Self::Link(found, to));
        }
        if !kind.is_file() {
            return Ok(Self::Other);
        }
        allow(&path, &found, READ);
        Ok(Self::File(found, File::open(&path)?))
    }

    fn add_to<W: Write>(self, archive: &mut Builder<W>, name: &Path) -> io::Result<()> {
        let mut header = Header::new_gnu();
        match self {
            Self::Folder(found) => {
                header.set_metadata(&found);
                archive.append_data(&mut header, name, empty())
            }
            Self::Link(found, to) => {
                header.set_metadata(&found);
                archive.append_link(&mut header, name, to)
            }
            Self::File(found, mut file) => {
                let since = found.modified()?.duration_since(UNIX_EPOCH);
                let since = since.unwrap_or_default().as_nanos();
                let time = format!("{}.{:09}", since / 1_000_000_000, since % 1_000_000_000);
                archive.append_pax_extensions([("mtime", time.as_bytes())])?;
                archive.append_file(name, &mut file)
            }
            Self::Other => Ok(()),
        }
    }
}

/// Names what cannot be read because of what it is, in its place. What this machine could not do is an error.
fn leave<W: Write>(archive: &mut Builder<W>, name: &Path, error: Error) -> io::Result<()> {
    if !Errno::from_io_error(&error).is_some_and(|errno| OF_A_PLACE.contains(&errno)) {
        return Err(error);
    }
    archive.append_pax_extensions([(UNREAD, error.to_string().as_bytes())])?;
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_size(0);
    // The whole folder has no name in itself.
    let name = if name.as_os_str().is_empty() { Path::new(".") } else { name };
    archive.append_data(&mut header, name, empty())
}
