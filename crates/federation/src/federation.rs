//! The handle of a board's folder: every way to read and to write it.

use crate::archive::{self, Archived};
use crate::board::Board;
use crate::decide::letters;
use crate::error::FederationError;
use crate::folder::Folder;
use crate::gather::{Glance, gather};
use crate::lock::{self, Lock};
use crate::mounts;
use crate::operation::Operation;
use crate::recover::Source;
use crate::task::Task;
use crate::watch::Watch;
use crate::write::Writer;
use jiff::{SignedDuration, Timestamp};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How a board is kept.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// After how long an agent that is not seen counts as gone, so that its claims can be taken.
    pub gone_after: SignedDuration,
    /// After how long without activity a session is archived.
    pub archive_after: SignedDuration,
    /// How long a writer waits for the others.
    pub lock_limit: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            gone_after: SignedDuration::from_mins(15),
            archive_after: SignedDuration::from_hours(24),
            lock_limit: lock::LIMIT,
        }
    }
}

/// The folder of a board, `~/.federation` for most. Cheap to make: nothing is opened until it is used.
#[derive(Debug, Clone)]
pub struct Federation {
    pub(crate) folder: Folder,
    pub(crate) options: Options,
    pub(crate) clock: fn() -> Timestamp,
    pub(crate) random: fn() -> u64,
}

/// What became of an operation that was done.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// The board with it; none when the session was archived.
    pub board: Option<Board>,
    /// The task that it was about, as it is now.
    pub task: Option<Task>,
    /// Where a session was archived on the way.
    pub archived: Option<PathBuf>,
    /// Why the log was not compacted afterwards, if it was not. The operation is done all the same; a log
    /// that is never compacted grows.
    pub not_compacted: Option<String>,
}

impl Federation {
    /// The board in `folder`, with a clock and random numbers from outside.
    pub fn at(folder: &Path, clock: fn() -> Timestamp, random: fn() -> u64) -> Self {
        Self { folder: Folder::at(folder), options: Options::default(), clock, random }
    }

    /// The same, kept in another way.
    #[must_use]
    pub fn with_options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// How it is kept.
    pub fn options(&self) -> Options {
        self.options
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.root()
    }

    /// The board as it is now; none when no session is active. Waits for nobody: what has to be
    /// repaired or archived is, if nobody else writes and the folder can be written, and is shown
    /// repaired in any case.
    pub fn read(&self) -> Result<Option<Board>, FederationError> {
        let glance = Glance::take(&self.folder)?;
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
            return Err(crate::refusal::Refusal::NoSession.into());
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

    /// Follows the board: says when it changes.
    pub fn watch(&self) -> Result<Watch, FederationError> {
        Watch::begin(self.clone())
    }

    /// Repairs and archives; the board as it was seen when somebody else writes.
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

    /// Whether nothing happened on it for so long that it is archived.
    pub(crate) fn is_stale(&self, board: &Board) -> bool {
        let now = (self.clock)();
        let last = board.last_activity();
        last.is_some_and(|last| now.duration_since(last) > self.options.archive_after)
    }

    /// An id for a new session: the day, and six letters.
    pub(crate) fn new_session_id(&self, now: Timestamp) -> String {
        format!("sess-{}-{}", now.strftime("%Y%m%d"), letters((self.random)()))
    }
}

/// Refuses a folder whose locks others do not see, by the text of `/proc/self/mountinfo`.
pub(crate) fn check_mount(mountinfo: &str, folder: PathBuf) -> Result<(), FederationError> {
    match mounts::without_locks(mountinfo, &folder) {
        Some(found) => Err(FederationError::NoLocks { path: folder, found }),
        None => Ok(()),
    }
}
