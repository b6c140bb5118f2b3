//! What can be done with a board: every way to read and to write it.

use crate::archive;
use crate::archive::Archived;
use crate::board::Board;
use crate::error::{FederationError, Refusal};
use crate::federation::Federation;
use crate::gather::{Glance, Source, gather};
use crate::lock::{Lock, without_locks};
use crate::operation::Operation;
use crate::write::{Done, Writer};
use std::path::PathBuf;

impl Federation {
    /// The board as it is now; none when no session is active. Does not wait: what has to be repaired or
    /// archived is, if no other program writes and the folder can be written, and is shown repaired in any
    /// case.
    pub fn read(&self) -> Result<Option<Board>, FederationError> {
        let glance = Glance::gather(&self.folder)?;
        let board = glance.found.as_ref().map(|found| &found.board);
        if glance.is_all() && !board.is_some_and(|board| self.is_stale(board)) {
            return Ok(glance.found.map(|found| found.board));
        }
        let gathered = gather(&self.folder)?;
        let is_stale = gathered.board.as_ref().is_some_and(|board| self.is_stale(board));
        if gathered.is_settled() && !is_stale {
            return Ok(gathered.board);
        }
        // Who cannot write still reads.
        match self.tidy(gathered.board.clone()) {
            Err(error) if error.is_a_kill() => Err(error),
            tidied => Ok(tidied.unwrap_or(gathered.board)),
        }
    }

    /// Does an operation. When this returns it is on disk; when it fails nothing was changed.
    pub fn write(&self, operation: &Operation) -> Result<Done, FederationError> {
        operation.validate()?;
        if !operation.begins_a_session() && !self.folder.root().exists() {
            return Err(Refusal::NoSession.into());
        }
        self.folder.create()?;
        self.check_mount()?;
        let _lock = Lock::acquire(&self.folder, self.options.lock_limit, self.random)?;
        Writer::of(self).write(operation)
    }

    /// Puts the last good board in the place of one that cannot be read, which is kept beside it.
    pub fn recover(&self) -> Result<(Board, Source), FederationError> {
        if !self.folder.root().exists() {
            return Err(FederationError::NothingToRecover { path: self.folder().to_owned() });
        }
        self.folder.create()?;
        self.check_mount()?;
        let _lock = Lock::acquire(&self.folder, self.options.lock_limit, self.random)?;
        Writer::of(self).recover()
    }

    /// The newest archived sessions, at most so many, newest first.
    pub fn history(&self, most: usize) -> Result<Vec<Archived>, FederationError> {
        archive::list(&self.folder, most)
    }

    /// One archived session, by the name of its file or by its id.
    pub fn archived(&self, name: &str) -> Result<Archived, FederationError> {
        archive::fetch(&self.folder, name)
    }

    /// Repairs and archives; the board as it was seen when another program writes.
    fn tidy(&self, seen: Option<Board>) -> Result<Option<Board>, FederationError> {
        self.check_mount()?;
        let Some(_lock) = Lock::try_acquire(&self.folder)? else { return Ok(seen) };
        Writer::of(self).tidy()
    }

    fn check_mount(&self) -> Result<(), FederationError> {
        let Ok(mountinfo) = std::fs::read_to_string("/proc/self/mountinfo") else { return Ok(()) };
        let folder = self.folder().canonicalize().unwrap_or_else(|_| self.folder().to_owned());
        check_mount(&mountinfo, folder)
    }
}

/// Refuses a folder whose locks others do not see, by the text of `/proc/self/mountinfo`.
pub(crate) fn check_mount(mountinfo: &str, folder: PathBuf) -> Result<(), FederationError> {
    match without_locks(mountinfo, &folder) {
        Some(found) => Err(FederationError::NoLocks { path: folder, found }),
        None => Ok(()),
    }
}
