//! Why an operation is refused, and of which kind a failure is. Who is refused finds the board as it was.

use crate::task::Stamp;
use thiserror::Error;

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
