//! How an operation on a session fails, and what other nodes have against it, for callers that know nothing
//! of other nodes.

use crate::live::LiveError;
use baton_api::{Answers, ErrorCode, Invalid, Scope};
use baton_federation::FederationError;
use baton_session::login::NoLogin;
use baton_session::{AgentName, Lifecycle, NodeId, SessionName};
use baton_store::StoreError;
use baton_store::blocking::Stopping;
use baton_store::data::FileError;
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Why an operation on a session was not done.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The request can be read, but makes no sense.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// What other nodes were asked, or what they answer, forbids it.
    #[error(transparent)]
    Elsewhere(Elsewhere),
    /// The database refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A browser refused or failed.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// A file of a session did not come or go.
    #[error(transparent)]
    File(#[from] FileError),
    /// The browser at an address that the caller named refused or failed.
    #[error(transparent)]
    Attach(LiveError),
    /// The browser has every file of its user, and the caller is another user.
    #[error(
        "expected session {name} to have a browser that is kept from the files of this machine, found \
         one that was started without\n\
         baton sessions close {name}, then baton sessions resume {name}, starts one that is"
    )]
    NotConfined {
        /// Which session.
        name: SessionName,
    },
    /// The key does not allow it.
    #[error("expected a key with the scope {needed}, found one with {found}")]
    Forbidden {
        /// What is needed.
        needed: Scope,
        /// The scopes of the key.
        found: String,
    },
    /// The address bears a ticket that opens nothing.
    #[error(
        "expected a ticket that opens this session, found {found}\n\
         POST /sessions/ID/cdp and baton sessions cdp give another one"
    )]
    BadTicket {
        /// What it is instead.
        found: &'static str,
    },
    /// There are so many tickets that no other one is given out.
    #[error("expected at most {most} {what} at once, found more")]
    TooManyTickets {
        /// Which of them.
        what: &'static str,
        /// How many there may be.
        most: usize,
        /// How long until the first of them ends.
        wait: Duration,
    },
    /// It was done, but the audit log did not take it.
    #[error("{action} was done, but cannot be noted in the audit log: {source}")]
    NotNoted {
        /// What was done.
        action: &'static str,
        /// Why it is not in the log.
        source: StoreError,
    },
    /// The session's lifecycle does not allow it.
    #[error("expected session {name} to be {expected}, found it {found}")]
    WrongState {
        /// Which session.
        name: SessionName,
        /// Where it would have to stand.
        expected: &'static str,
        /// The lifecycle that it has.
        found: Lifecycle,
    },
    /// The board refused or failed.
    #[error(transparent)]
    Board(#[from] FederationError),
    /// There is no board, or it is not the caller's.
    #[error(
        "expected a board of yours at this node, found none\nbaton federation works on its files"
    )]
    NoBoard,
    /// Another agent drives the session.
    #[error(
        "expected the agent that drives session {name}, {agent}, found {}\n{agent} passes it on with \
         baton sessions pass {name} --to AGENT; whoever takes it from {agent} says why, with --reason",
        match found { Some(found) => found.as_str(), None => "a caller that says no agent's name" }
    )]
    OtherAgent {
        /// Which session.
        name: SessionName,
        /// Who drives it.
        agent: AgentName,
        /// Who asks.
        found: Option<AgentName>,
    },
    /// The session's profile is in another node's folder.
    #[error("session {name} lives on node {node}; ask that node")]
    OtherNode {
        /// Which session.
        name: SessionName,
        /// Its node.
        node: NodeId,
    },
    /// Nothing has been captured yet, or not this.
    #[error("expected session {name} to have {expected}, found none")]
    NoSnapshot {
        /// Which session.
        name: SessionName,
        /// What was asked for.
        expected: &'static str,
    },
    /// A file that is none of those which become a session, or a damaged one.
    #[error("{reason}")]
    BadFile {
        /// What was expected, and what was found; never a value.
        reason: String,
    },
    /// Neither the file nor its sender names the session.
    #[error(
        "expected a name for the session, found none in the file that fits\ngive one with --name"
    )]
    NoName,
    /// The folders of a browser that runs are not read, and only a session file holds them.
    #[error(
        "expected a deep export in the format session, of a session without a running browser\n\
         close session {name} first"
    )]
    NotDeep {
        /// Which session.
        name: SessionName,
    },
    /// A session that no file may hold.
    #[error("expected session {name} to fit in a file of {limit} bytes, found {size}")]
    FileTooLarge {
        /// Which session.
        name: SessionName,
        /// How large its file would be.
        size: usize,
        /// How large it may be.
        limit: usize,
    },
    /// The state of a snapshot cannot be written as JSON.
    #[error("the state of session {name} cannot be shown: {source}")]
    NotShown {
        /// Which session.
        name: SessionName,
        /// Why.
        source: serde_json::Error,
    },
    /// Another holder has it.
    #[error(
        "expected session {name} to be held by nobody, found that {holder}\n\
         end that first, or hand in a copy (--shared, or \"shared\": true)"
    )]
    Held {
        /// Which session.
        name: SessionName,
        /// Who has it.
        holder: String,
    },
    /// Another agent drives its browser.
    #[error(
        "expected nobody to drive session {name}, found a client that is connected to its browser\n\
         end that first, take the session all the same (--take, or \"take\": true), or hand in a copy \
         (--shared, or \"shared\": true)"
    )]
    Driven {
        /// Which session.
        name: SessionName,
    },
    /// It holds no login.
    #[error(transparent)]
    NoLogin(#[from] NoLogin),
}

impl From<Stopping> for RuntimeError {
    fn from(_: Stopping) -> Self {
        Self::Live(LiveError::Stopping)
    }
}

/// How a session stands with the nodes that were asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stand {
    /// One of them keeps it.
    Kept,
    /// One of them did not answer.
    Unanswered,
    /// Something else is the matter.
    Other,
}

/// What other nodes have against an operation.
#[derive(Debug)]
pub struct Elsewhere {
    stand: Stand,
    code: ErrorCode,
    hint: Option<&'static str>,
    error: Box<dyn Error + Send + Sync>,
}

impl Elsewhere {
    /// What `error` says.
    pub fn new(stand: Stand, error: impl Answers + Send + Sync + 'static) -> Self {
        Self { stand, code: error.code(), hint: error.hint(), error: Box::new(error) }
    }

    /// How the session stands.
    pub fn stand(&self) -> Stand {
        self.stand
    }

    /// The word that programs rely on.
    pub(super) fn code(&self) -> ErrorCode {
        self.code
    }

    /// What to do, where the text does not say it.
    pub(super) fn hint(&self) -> Option<&'static str> {
        self.hint
    }

    /// The error itself, for those who know its type.
    ///
    /// # Errors
    ///
    /// It is of another type.
    pub fn downcast<E: Error + 'static>(self) -> Result<Box<E>, Self> {
        let Self { stand, code, hint, error } = self;
        error.downcast().map_err(|error| Self { stand, code, hint, error })
    }
}

impl fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for Elsewhere {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
