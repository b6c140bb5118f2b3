//! Files by their names in one folder that others write to as well: browsers, tools, people.
//!
//! A name is never a path, and nothing is followed: what is no plain file is not there.

use crate::plain::{self, Links};
use rustix::fs::{Mode, OFlags, openat};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// How long a name may be, in bytes.
const NAME_BYTES: usize = 200;

/// Whether a file may have this name: not hidden, not a path, and fit to be shown.
pub fn is_file_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= NAME_BYTES
        && !name.starts_with('.')
        && name.chars().all(|letter| !matches!(letter, '/' | '\\') && !letter.is_control())
}

/// Opens a plain file to be read. Does not wait, also where a pipe has that name.
pub fn open_plain(folder: &Path, name: &str) -> io::Result<File> {
    plain::open(&folder.join(name), Links::Refused)
}

/// Removes the file or link of this name.
pub fn remove(folder: &Path, name: &str) -> io::Result<()> {
    let folder = open_folder(folder)?;
    Ok(rustix::fs::unlinkat(&folder, name, rustix::fs::AtFlags::empty())?)
}

/// A new file beside all that have names, which only its user may read; it gets one by [`name`].
pub fn create_unnamed(folder: &Path, hidden: &str) -> io::Result<File> {
    let folder = open_folder(folder)?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(&folder, hidden, flags, Mode::RUSR | Mode::WUSR)?.into())
}

/// Gives the file `hidden` its name, in the place of one that has it, once it is on disk.
pub fn name(folder: &Path, hidden: &str, name: &str) -> io::Result<()> {
    let folder = open_folder(folder)?;
    rustix::fs::renameat(&folder, hidden, &folder, name)?;
    folder.sync_all()
}

fn open_folder(folder: &Path) -> io::Result<File> {
    let flags = (OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC).bits();
    OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(folder)
}
