//! The handle of a board's folder: how it is kept, and with which clock and dice.

use crate::board::Board;
use crate::decide::letters;
use crate::folder::Folder;
use crate::lock;
use jiff::{SignedDuration, Timestamp};
use std::path::Path;
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
