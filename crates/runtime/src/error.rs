//! How an operation on a session fails: what other nodes have against it, for callers that know nothing of
//! them, and what that is for a client.

use crate::live::LiveError;
use baton_api::{Answers, ErrorCode, Invalid, Scope};
use baton_browser::cdp::CdpError;
use baton_browser::keeper::KeeperError;
use baton_browser::launch::LaunchError;
use baton_browser::profile::compile::CompileError;
use baton_browser::restore::RestoreError;
use baton_federation::{FederationError, Kind};
use baton_session::login::NoLogin;
use baton_session::{AgentName, Lifecycle, NodeId, SessionName};
use baton_store::StoreError;
use baton_store::blocking::Stopping;
use baton_store::data::{DataError, FileError};
use std::error::Error;
use std::io::ErrorKind;
use std::time::Duration;
use std::{fmt, io};

const DEEP: &str = "expected a deep export in the format session, of one without a running browser";
const NAME_IT: &str = "give one with --name";
const WHOLE: &str = "correct that there: a session with a way out of its own is taken with all of its environment, or not at all";

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
    /// The browser has every file of its user, or reaches whatever its machine does, and the caller is
    /// another user.
    #[error(
        "expected session {name} to have a browser that is kept from {from}, found one that was started \
         without\n\
         baton sessions close {name}, then baton sessions resume {name}, starts one that is"
    )]
    NotConfined {
        /// Which session.
        name: SessionName,
        /// What of the machine it has.
        from: &'static str,
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
         POST to the same address gives another one, and baton sessions cdp one for tools"
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
    /// The session in a file has a way out to the network, and an environment that no session can have.
    #[error("in the file, {0}\n{WHOLE}")]
    BadEnvironment(Invalid),
    /// Neither the file nor its sender names the session.
    #[error("expected a name for the session, found none in the file that fits\n{NAME_IT}")]
    NoName,
    /// The folders of a browser that runs are not read, and only a session file holds them.
    #[error("{DEEP}\nclose session {name} first")]
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

impl Answers for RuntimeError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Store(error) | Self::NotNoted { source: error, .. } => store(error),
            Self::Live(error) => live(error),
            Self::Attach(error) => attach(error),
            Self::File(error) => file_of_session(error),
            Self::Board(error) => board(error),
            Self::Elsewhere(error) => error.code(),
            Self::NotConfined { .. } => ErrorCode::NotConfined,
            Self::Invalid(_) | Self::BadFile { .. } | Self::BadEnvironment(_) | Self::NoName => {
                ErrorCode::InvalidRequest
            }
            Self::FileTooLarge { .. } => ErrorCode::StorageFull,
            Self::BadTicket { .. } => ErrorCode::Unauthenticated,
            Self::Forbidden { .. } => ErrorCode::Forbidden,
            Self::TooManyTickets { .. } => ErrorCode::TooManyRequests,
            Self::NoBoard => ErrorCode::NotOnBoard,
            Self::WrongState { .. } => ErrorCode::WrongState,
            Self::OtherAgent { .. } => ErrorCode::OtherAgent,
            Self::OtherNode { .. } | Self::NotDeep { .. } => ErrorCode::Conflict,
            Self::NoSnapshot { .. } => ErrorCode::NoSnapshot,
            Self::Held { .. } | Self::Driven { .. } => ErrorCode::SessionHeld,
            Self::NoLogin(NoLogin::Expired { .. }) => ErrorCode::SessionExpired,
            Self::NoLogin(NoLogin::Missing { .. } | NoLogin::Unlikely { .. }) => {
                ErrorCode::LoginMissing
            }
            Self::NotShown { .. } => ErrorCode::Internal,
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::WrongState { found, .. } => Some(match found {
                Lifecycle::Active => "its browser runs; baton sessions close ends it",
                Lifecycle::Closed => "baton sessions resume brings it back, delete removes it",
                _ => "baton sessions resume brings it back",
            }),
            Self::Store(StoreError::SnapshotNotFound { .. }) => {
                Some("baton sessions history shows the snapshots there are")
            }
            Self::Elsewhere(error) => error.hint(),
            error => baton_api::usual_hint(error.code()),
        }
    }
}

fn live(error: &LiveError) -> ErrorCode {
    match error {
        LiveError::NotActive(_) | LiveError::AlreadyActive(_) => ErrorCode::WrongState,
        LiveError::Busy(_) | LiveError::LeaseLost { .. } | LiveError::Twin { .. } => {
            ErrorCode::Conflict
        }
        LiveError::CheckedOut { .. } => ErrorCode::SessionHeld,
        LiveError::NoRoom(_)
        | LiveError::Leaving
        | LiveError::NoLabel { .. }
        | LiveError::TooManyArrive { .. } => ErrorCode::NoRoom,
        LiveError::NotHeard => ErrorCode::StorageUnavailable,
        LiveError::NoSnapshot(_) => ErrorCode::NoSnapshot,
        LiveError::ProfileInUse { .. } => ErrorCode::ProfileInUse,
        LiveError::SnapshotsDamaged { .. } | LiveError::SnapshotDamaged { .. } => {
            ErrorCode::StorageDamaged
        }
        LiveError::TooSlow { .. } | LiveError::NotRead { .. } => ErrorCode::TimedOut,
        LiveError::Launch(error) | LiveError::Keeper(KeeperError::Launch(error)) => launch(error),
        LiveError::Keeper(KeeperError::Address(_)) => ErrorCode::CdpUnreachable,
        LiveError::Keeper(KeeperError::File { source, .. }) if is_full(source) => {
            ErrorCode::StorageFull
        }
        LiveError::Keeper(_) | LiveError::Stopping => ErrorCode::BrowserUnavailable,
        LiveError::Egress(error) if error.is_of_the_node() => ErrorCode::BrowserUnavailable,
        LiveError::Browser(error) | LiveError::Restore(RestoreError::Cdp(error)) => browser(error),
        LiveError::File { source, .. } | LiveError::Data(DataError::Io { source, .. }) => {
            file(source)
        }
        LiveError::Data(DataError::HoldsData { .. })
        | LiveError::NotThisBrowser(_)
        | LiveError::Egress(_) => ErrorCode::InvalidRequest,
        LiveError::Profile(error) | LiveError::Compile(CompileError::Profile(error)) => {
            file(&error.source)
        }
        LiveError::Data(_) | LiveError::Compile(_) => ErrorCode::Internal,
        LiveError::Store(error) => store(error),
    }
}

/// Whatever keeps an attachment from starting, the address is what its caller can mend.
fn attach(error: &LiveError) -> ErrorCode {
    match live(error) {
        ErrorCode::BrowserUnavailable => ErrorCode::CdpUnreachable,
        other => other,
    }
}

fn launch(error: &LaunchError) -> ErrorCode {
    match error {
        LaunchError::InUse { .. } | LaunchError::OtherHost { .. } | LaunchError::Claimed { .. } => {
            ErrorCode::ProfileInUse
        }
        LaunchError::File { source, .. } => file(source),
        LaunchError::NotFound { .. }
        | LaunchError::TooOld { .. }
        | LaunchError::NotRunnable { .. }
        | LaunchError::NotConfined { .. }
        | LaunchError::Rules { .. } => ErrorCode::BrowserUnavailable,
    }
}

fn browser(error: &CdpError) -> ErrorCode {
    match error {
        CdpError::TimedOut { .. } => ErrorCode::TimedOut,
        _ => ErrorCode::BrowserUnavailable,
    }
}

/// What a file that cannot be read or written is for a client.
pub fn file(error: &io::Error) -> ErrorCode {
    if is_full(error) { ErrorCode::StorageFull } else { ErrorCode::Internal }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
}

pub(crate) fn store(error: &StoreError) -> ErrorCode {
    match error {
        StoreError::NameTaken { .. }
        | StoreError::KeyNameTaken { .. }
        | StoreError::PeerNameTaken { .. } => ErrorCode::NameTaken,
        StoreError::SessionNotFound { .. } => ErrorCode::SessionNotFound,
        StoreError::Ambiguous { .. }
        | StoreError::AmbiguousSnapshot { .. }
        | StoreError::AmbiguousPeer { .. } => ErrorCode::AmbiguousReference,
        StoreError::LifecycleConflict { .. } | StoreError::LifecycleForbidden { .. } => {
            ErrorCode::WrongState
        }
        StoreError::SnapshotNotFound { .. } => ErrorCode::NoSnapshot,
        StoreError::KeyNotFound { .. } => ErrorCode::KeyNotFound,
        StoreError::InvitationNotFound { .. } => ErrorCode::InvitationNotFound,
        StoreError::UpstreamNotFound { .. } => ErrorCode::UpstreamNotFound,
        StoreError::IdTaken { .. }
        | StoreError::HeldElsewhere { .. }
        | StoreError::PeerTaken { .. }
        | StoreError::PeerKeyTaken { .. }
        | StoreError::SharedChanged { .. }
        | StoreError::TooManyInvitations { .. }
        | StoreError::DriverChanged { .. } => ErrorCode::Conflict,
        StoreError::QuotaReached { .. } => ErrorCode::QuotaReached,
        StoreError::InvalidText { .. }
        | StoreError::PeerNotFound { .. }
        | StoreError::CredentialRefused { .. }
        | StoreError::PartRefused { .. } => ErrorCode::InvalidRequest,
        StoreError::PartTooLarge { .. }
        | StoreError::TooManyParts { .. }
        | StoreError::TooManyStaged { .. }
        | StoreError::DiskFull { .. } => ErrorCode::StorageFull,
        StoreError::SnapshotCorrupt { .. }
        | StoreError::PartMissing { .. }
        | StoreError::PartCorrupt { .. }
        | StoreError::ReceiptCorrupt { .. }
        | StoreError::SharedCorrupt { .. }
        | StoreError::IdentityCorrupt { .. }
        | StoreError::IdentityNotFound { .. }
        | StoreError::InvalidRow { .. }
        | StoreError::NotADatabase { .. }
        | StoreError::NotOurs { .. }
        | StoreError::Damaged { .. } => ErrorCode::StorageDamaged,
        StoreError::NoAccess { .. }
        | StoreError::ReadOnly { .. }
        | StoreError::Unreachable { .. }
        | StoreError::Busy { .. }
        | StoreError::Interrupted => ErrorCode::StorageUnavailable,
        StoreError::NotMigrated { source, .. } => store(source),
        StoreError::Key(_)
        | StoreError::WrongKey { .. }
        | StoreError::InvalidUrl(_)
        | StoreError::NewerSchema { .. }
        | StoreError::Migration { .. }
        | StoreError::DuplicatePart { .. }
        | StoreError::Filled { .. }
        | StoreError::Database(_) => ErrorCode::Internal,
    }
}

fn board(error: &FederationError) -> ErrorCode {
    match error.kind() {
        Kind::Invalid => ErrorCode::InvalidRequest,
        Kind::NotFound => ErrorCode::NotOnBoard,
        Kind::Conflict => ErrorCode::Conflict,
        Kind::Denied | Kind::Failed => ErrorCode::Internal,
    }
}

fn file_of_session(error: &FileError) -> ErrorCode {
    match error {
        FileError::NotFound { .. } | FileError::NotAhead { .. } => ErrorCode::FileNotFound,
        FileError::TooLarge { .. } => ErrorCode::BodyTooLarge,
        FileError::Full { .. } => ErrorCode::StorageFull,
        FileError::Cut(_) => ErrorCode::InvalidRequest,
        FileError::Disk { source, .. } => file(source),
    }
}

/// A word of a command that a person is asked to type, so that a shell takes it as one word.
pub fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@%+=,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn a_word_of_a_command_stays_one_word() {
        assert_eq!(word("https://baton.example.org:7420/"), "https://baton.example.org:7420/");
        assert_eq!(word("my server"), "'my server'");
        assert_eq!(word("x; rm -rf ~"), "'x; rm -rf ~'");
        assert_eq!(word("it's $(id)"), r"'it'\''s $(id)'");
        assert_eq!(word(""), "''");
    }
}
