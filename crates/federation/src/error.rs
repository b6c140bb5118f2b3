//! What can go wrong: refused, and why, in the way, unreadable, or the disk. Who is refused finds the board
//! as it was.
//!
//! A write may also be killed between any two of its steps; tests do that with a hook.

#[cfg(test)]
pub(crate) use asked::{before, with_hook};

use crate::task::Stamp;
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

/// Why an operation was not done. What was found, and what to do.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Refusal {
    /// No agent can be called so.
    #[error("expected the name of an agent, 1 to 64 of A-Z a-z 0-9 . _ -, found {found:?}")]
    NotAName {
        /// What was given.
        found: String,
    },
    /// No such agent takes part.
    #[error("expected an agent of the board, found {found}{}", known(.there))]
    NoAgent {
        /// What was given.
        found: String,
        /// Who does.
        there: Vec<String>,
    },
    /// No such task.
    #[error("expected a task of the board, found {found}\nbaton federation task list shows them")]
    NoTask {
        /// What was given.
        found: String,
    },
    /// No session is active.
    #[error("expected an active session, found none\nthe first update or task begins one")]
    NoSession,
    /// Nothing is free.
    #[error(
        "expected a task that is free, found none: {held} held, {blocked} blocked, {kept} for other agents"
    )]
    NothingFree {
        /// How many others hold.
        held: usize,
        /// How many wait for others.
        blocked: usize,
        /// How many are meant for others.
        kept: usize,
    },
    /// Another agent holds it.
    #[error("expected {task} to be free, but {holder} holds it{}, seen {seen}\nit can be taken when {holder} was silent for {lease_seconds} s", numbered(*.fence))]
    Held {
        /// Which task.
        task: String,
        /// Who has it.
        holder: String,
        /// With which number.
        fence: Option<u64>,
        /// When the holder was last seen.
        seen: String,
        /// How long it may be silent.
        lease_seconds: u64,
    },
    /// The one who asks held it once.
    #[error("expected the claim of {agent} on {task} with the number {given}, but {holder} has it now{}\nstop working on it", numbered(*.fence))]
    TakenOver {
        /// Which task.
        task: String,
        /// Who asks.
        agent: String,
        /// With which number.
        given: u64,
        /// Who has it.
        holder: String,
        /// With which number.
        fence: Option<u64>,
    },
    /// The one who asks does not hold it.
    #[error("expected {agent} to hold {task}, but {}", .holder.as_ref().map_or_else(|| "nobody holds it\nclaim it first".to_owned(), |holder| format!("{holder} holds it{}", numbered(*fence))))]
    NotTheHolder {
        /// Which task.
        task: String,
        /// Who asks.
        agent: String,
        /// Who has it.
        holder: Option<String>,
        /// With which number.
        fence: Option<u64>,
    },
    /// It is done.
    #[error("expected {task} to be open, but {by} completed it{}", when(.at.as_ref()))]
    Completed {
        /// Which task.
        task: String,
        /// Who did it.
        by: String,
        /// When.
        at: Option<Stamp>,
    },
    /// It waits for others.
    #[error("expected {task} to wait for nothing, but it waits for {}", .on.join(", "))]
    Blocked {
        /// Which task.
        task: String,
        /// For which.
        on: Vec<String>,
    },
    /// It is meant for another agent.
    #[error("expected {task} to be for {agent}, but it is for {meant_for}")]
    MeantFor {
        /// Which task.
        task: String,
        /// Who asks.
        agent: String,
        /// For whom.
        meant_for: String,
    },
    /// Another program gave it a status that we do not know.
    #[error("expected {task} to be pending, found the status {status:?}")]
    OtherStatus {
        /// Which task.
        task: String,
        /// What it is.
        status: String,
    },
    /// It would wait for itself.
    #[error("{task} cannot wait for {on}: {on} waits for {task} already")]
    Cycle {
        /// Which should wait.
        task: String,
        /// For which.
        on: String,
    },
    /// Nothing was said.
    #[error("expected {what}, found an empty text")]
    Empty {
        /// What was expected.
        what: &'static str,
    },
    /// Too much was said.
    #[error("expected {what} of at most {most} bytes, found {found}")]
    TooLong {
        /// What was given.
        what: &'static str,
        /// The bound.
        most: usize,
        /// Its length.
        found: usize,
    },
    /// Too many tasks were named.
    #[error("expected at most {most} tasks at once, found {found}")]
    TooManyNamed {
        /// The bound.
        most: usize,
        /// How many.
        found: usize,
    },
    /// The board is full.
    #[error(
        "expected at most {most} tasks on the board, found as many\nbaton federation close archives them and begins anew"
    )]
    Full {
        /// The bound.
        most: usize,
    },
    /// No share of hits.
    #[error("expected an accuracy from 0 to 1, found {found}")]
    NotAnAccuracy {
        /// What was given.
        found: f64,
    },
}

impl Refusal {
    /// Of which kind it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::NoAgent { .. }
            | Self::NoTask { .. }
            | Self::NoSession
            | Self::NothingFree { .. } => Kind::NotFound,
            Self::NotAName { .. }
            | Self::Empty { .. }
            | Self::TooLong { .. }
            | Self::TooManyNamed { .. }
            | Self::NotAnAccuracy { .. } => Kind::Invalid,
            Self::Held { .. }
            | Self::TakenOver { .. }
            | Self::NotTheHolder { .. }
            | Self::Completed { .. }
            | Self::Blocked { .. }
            | Self::MeantFor { .. }
            | Self::OtherStatus { .. }
            | Self::Cycle { .. }
            | Self::Full { .. } => Kind::Conflict,
        }
    }
}

fn known(there: &[String]) -> String {
    match there {
        [] => "; none has been seen yet".to_owned(),
        there => format!("; there are {}", there.join(", ")),
    }
}

fn numbered(fence: Option<u64>) -> String {
    fence.map(|fence| format!(" with the number {fence}")).unwrap_or_default()
}

fn when(stamp: Option<&Stamp>) -> String {
    stamp.map(|stamp| format!(" at {stamp}")).unwrap_or_default()
}

/// What sort of failure it is; doors translate it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What was asked makes no sense.
    Invalid,
    /// What was asked for is not there.
    NotFound,
    /// An agent or something else is in the way.
    Conflict,
    /// The file system does not allow it.
    Denied,
    /// Anything else.
    Failed,
}
