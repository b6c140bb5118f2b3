//! A new board takes the place of the old one, and what was displaced is in our hands.
//!
//! The one idea: *nothing that another program wrote is thrown away unseen*. The two files change places in
//! one step, so what was there at that instant can be compared with what we had read. A file of ours is named
//! by its hash: one whose content is another was displaced, and waits for a person to look at it.

use crate::error::{FederationError, Tried, WriteStep, before};
use crate::folder::{Folder, fetch, write_new};
use crate::read;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

const STEM: &str = ".active-session.";

/// A new board beside the place of the old one.
#[derive(Debug)]
pub(crate) struct Slot(pub(crate) PathBuf);

/// How a slot got into its place.
#[derive(Debug, PartialEq)]
pub(crate) enum Put {
    /// Nothing stood there.
    New,
    /// What stood there is in the slot now.
    Exchanged,
}

impl Slot {
    /// Writes and syncs the bytes beside the board. A draft that is torn has no name that counts.
    pub(crate) fn fill(
        folder: &Folder,
        bytes: &[u8],
        random: u64,
    ) -> Result<Self, FederationError> {
        let draft = folder.sessions().join(format!("{STEM}{random:016x}.draft"));
        before(WriteStep::Draft)?;
        write_new(&draft, bytes).tried("write", &draft)?;
        before(WriteStep::Name)?;
        let slot = folder.sessions().join(format!("{STEM}{}.swap", hash(bytes)));
        fs::rename(&draft, &slot).tried("write", &slot).inspect_err(|_| {
            let _ = fs::remove_file(&draft);
        })?;
        Ok(Self(slot))
    }

    /// Changes places with the board; `is_new` when none was there, and then none may be there now.
    pub(crate) fn swap(&self, folder: &Folder, is_new: bool) -> io::Result<Put> {
        let place = folder.board();
        if is_new {
            return rename_new(&self.0, &place).map(|()| Put::New);
        }
        match exchange(&self.0, &place) {
            // Another program took the board away in this moment.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                rename_new(&self.0, &place).map(|()| Put::New)
            }
            other => other.map(|()| Put::Exchanged),
        }
    }

    pub(crate) fn remove(&self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The name that bytes of ours get.
fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(target_os = "linux")]
fn exchange(slot: &Path, place: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, slot, CWD, place, RenameFlags::EXCHANGE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => exchange_in_steps(slot, place),
        other => Ok(other?),
    }
}

#[cfg(not(target_os = "linux"))]
fn exchange(slot: &Path, place: &Path) -> io::Result<()> {
    exchange_in_steps(slot, place)
}

/// Where the file system cannot exchange: a second name keeps what is there.
fn exchange_in_steps(slot: &Path, place: &Path) -> io::Result<()> {
    let kept = slot.with_extension("kept");
    let _ = fs::remove_file(&kept);
    match fs::hard_link(place, &kept) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(error),
        // No links either: a copy does.
        Err(_) => drop(fs::copy(place, &kept)?),
        Ok(()) => {}
    }
    fs::rename(slot, place).inspect_err(|_| {
        let _ = fs::remove_file(&kept);
    })?;
    fs::rename(&kept, slot)
}

/// Gives a file a name that is free.
fn rename_new(slot: &Path, place: &Path) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, slot, CWD, place, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            other => return Ok(other?),
        }
    }
    fs::hard_link(slot, place)?;
    fs::remove_file(slot)
}

/// What writers that were killed left behind.
#[derive(Debug)]
pub(crate) struct Leftover {
    pub(crate) path: PathBuf,
    /// Whether it may hold what another program wrote.
    is_displaced: bool,
}

/// The files beside the board that no living writer needs, when called under the lock.
pub(crate) fn leftovers(folder: &Folder) -> Result<Vec<Leftover>, FederationError> {
    let sessions = folder.sessions();
    let entries = match fs::read_dir(&sessions) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).tried("read", &sessions),
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry.tried("read", &sessions)?.file_name();
        let Some(name) = name.to_str().and_then(|name| name.strip_prefix(STEM)) else { continue };
        let path = sessions.join(format!("{STEM}{name}"));
        match name.split_once('.') {
            Some((_, "draft")) => found.push(Leftover { path, is_displaced: false }),
            Some((_, "swap" | "kept")) => found.push(Leftover { path, is_displaced: true }),
            _ => {}
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

impl Leftover {
    /// The board of another program that it holds. What cannot be read is put aside.
    pub(crate) fn board(
        &self,
        folder: &Folder,
    ) -> Result<Option<crate::board::Board>, FederationError> {
        let Some(bytes) =
            fetch(&self.path).tried("read", &self.path)?.filter(|_| self.is_displaced)
        else {
            return Ok(None);
        };
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name == format!("{STEM}{}.swap", hash(&bytes)) {
            return Ok(None);
        }
        match read::parse(&bytes) {
            Ok(board) => Ok(Some(board)),
            Err(_) => read::keep(folder, &bytes).map(|_| None),
        }
    }
}
