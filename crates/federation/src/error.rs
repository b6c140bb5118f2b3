//! What can go wrong: refused, in the way, unreadable, or the disk.
//!
//! A write may also be killed between any two of its steps; tests do that with a hook.

use crate::refusal::{Kind, Refusal};
#[cfg(test)]
pub(crate) use asked::{before, with_hook};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why nothing was done, or nothing could be read.
#[derive(Debug, Error)]
pub enum FederationError {
    /// The board says no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Another process has the lock.
    #[error("expected the board to be free within {seconds} s, but {holder} holds {}\nlook what it does; the lock goes with it", .path.display())]
    Busy {
        /// How long we waited.
        seconds: u64,
        /// Who has it.
        holder: String,
        /// The lock.
        path: PathBuf,
    },
    /// Locks do not work there.
    #[error("expected a file system with locks that all of its users see, but {} is on {found}\nboards there would lose what agents write: name a folder on a local disk with --dir", .path.display())]
    NoLocks {
        /// The folder.
        path: PathBuf,
        /// What it is on.
        found: String,
    },
    /// The file is no board.
    #[error("expected a board in {}, which cannot be read: {why}\nnothing was overwritten{}; {}", .path.display(), copied(.copy.as_ref()), offered(.good.as_ref()))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What was found, and where.
        why: String,
        /// Where a copy of it was put.
        copy: Option<PathBuf>,
        /// What can be put back.
        good: Option<String>,
    },
    /// There is nothing to put back.
    #[error("expected a board that can be put back, found none in {}", .path.display())]
    NothingToRecover {
        /// The folder.
        path: PathBuf,
    },
    /// The board is well.
    #[error("expected a board that cannot be read, but {} can\nthere is nothing to recover", .path.display())]
    NotDamaged {
        /// The file.
        path: PathBuf,
    },
    /// No such archived session.
    #[error("expected an archived session, found none called {found}")]
    NoHistory {
        /// What was asked for.
        found: String,
    },
    /// The board is too large.
    #[error(
        "expected a board of at most {most} bytes, but it would have {found}\nbaton federation close archives it and begins anew"
    )]
    TooLarge {
        /// The bound.
        most: usize,
        /// Its size.
        found: usize,
    },
    /// A counter cannot go on.
    #[error("expected a counter below {most} in {what}, found {found}: another program wrote it")]
    UsedUp {
        /// Which.
        what: &'static str,
        /// The bound.
        most: u64,
        /// Its value.
        found: u64,
    },
    /// Other programs changed the file again and again.
    #[error("expected {} to rest for a moment, but other programs kept changing it", .path.display())]
    Restless {
        /// The file.
        path: PathBuf,
    },
    /// The file system said no.
    #[error("could not {what} {}: {source}", .path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A test stopped here, as a kill would.
    #[cfg(test)]
    #[error("killed before {0:?}")]
    Killed(WriteStep),
}

impl FederationError {
    /// Of which kind it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Refused(refusal) => refusal.kind(),
            Self::Busy { .. } | Self::NotDamaged { .. } | Self::Restless { .. } => Kind::Conflict,
            Self::NothingToRecover { .. } | Self::NoHistory { .. } => Kind::NotFound,
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Kind::Denied,
                _ => Kind::Failed,
            },
            _ => Kind::Failed,
        }
    }

    /// Whether a step hook of a test stopped us: then nothing is tidied up, as after a kill.
    #[cfg(test)]
    pub(crate) fn is_a_kill(&self) -> bool {
        matches!(self, Self::Killed(_))
    }

    /// Nothing stops us but a real kill.
    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "tests ask the error")]
    pub(crate) fn is_a_kill(&self) -> bool {
        false
    }
}

/// Says what was tried, and where.
pub(crate) trait Tried<T> {
    /// The same with `what` and `path`.
    fn tried(self, what: &'static str, path: &std::path::Path) -> Result<T, FederationError>;
}

impl<T> Tried<T> for io::Result<T> {
    fn tried(self, what: &'static str, path: &std::path::Path) -> Result<T, FederationError> {
        self.map_err(|source| FederationError::Io { what, path: path.to_owned(), source })
    }
}

fn copied(copy: Option<&PathBuf>) -> String {
    copy.map(|copy| format!(", and a copy is {}", copy.display())).unwrap_or_default()
}

fn offered(good: Option<&String>) -> String {
    match good {
        Some(good) => format!("baton federation recover puts back {good}"),
        None => "there is no older one to put back".to_owned(),
    }
}

/// The step of a write that is about to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteStep {
    /// The draft of the new board is written.
    Draft,
    /// The draft gets its name.
    Name,
    /// The log gets its lines.
    Log,
    /// The new board takes the place of the old one.
    Swap,
    /// What was displaced is looked at.
    Look,
    /// What was displaced becomes the copy.
    Keep,
    /// A session is written to the history.
    Archive,
    /// The file of a closed session goes.
    Remove,
    /// The agent's own file is written.
    Own,
}

/// Goes on, unless a test says stop.
#[cfg(not(test))]
#[expect(clippy::unnecessary_wraps, reason = "tests stop here")]
pub(crate) fn before(_: WriteStep) -> Result<(), FederationError> {
    Ok(())
}

#[cfg(test)]
mod asked {
    use super::{FederationError, WriteStep};
    use std::cell::RefCell;

    /// What happens before a step; false stops there.
    pub(crate) type Hook = Box<dyn FnMut(WriteStep) -> bool>;

    thread_local! {
        static HOOK: RefCell<Option<Hook>> = const { RefCell::new(None) };
    }

    /// Does `work` with a hook on this thread.
    pub(crate) fn with_hook<T>(hook: Hook, work: impl FnOnce() -> T) -> T {
        HOOK.with_borrow_mut(|place| *place = Some(hook));
        let done = work();
        HOOK.with_borrow_mut(|place| *place = None);
        done
    }

    /// Asks the hook. It is taken away while it runs, so that it may use a board itself.
    pub(crate) fn before(step: WriteStep) -> Result<(), FederationError> {
        let Some(mut hook) = HOOK.with_borrow_mut(Option::take) else { return Ok(()) };
        let goes_on = hook(step);
        HOOK.with_borrow_mut(|place| *place = Some(hook));
        if goes_on { Ok(()) } else { Err(FederationError::Killed(step)) }
    }
}
