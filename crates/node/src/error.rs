//! How an operation fails.

use crate::blocking::Stopping;
use crate::cocoons::CocoonError;
use crate::data::{DataError, FileError};
use crate::gateway::GatewayRefusal;
use crate::live::LiveError;
use crate::oidc::TokenRefusal;
use crate::sandboxes::SandboxRefusal;
use crate::sync::SyncError;
use baton_api::Scope;
use baton_debug::LookError;
use baton_federation::FederationError;
use baton_net::WayError;
use baton_session::{AgentName, Lifecycle, NodeId, SessionName};
use baton_store::StoreError;
use std::time::Duration;

/// Why an operation was not done. What a door answers is in [`problem`](crate::problem).
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The database refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A session did not move, or a peer was not taken.
    #[error(transparent)]
    Sync(#[from] SyncError),
    /// There is no answer about a tab.
    #[error(transparent)]
    Look(#[from] LookError),
    /// A cocoon is not as the request wants it.
    #[error(transparent)]
    Cocoon(#[from] CocoonError),
    /// A sandbox is not made, or does not do what the request wants.
    #[error(transparent)]
    Sandbox(#[from] SandboxRefusal),
    /// An agent does not answer.
    #[error(transparent)]
    Gateway(#[from] GatewayRefusal),
    /// A file of a session did not come or go.
    #[error(transparent)]
    File(#[from] FileError),
    /// The browser has every file of its user, and the caller is somebody else.
    #[error(
        "expected session {name} to have a browser that is kept from the files of this machine, found \
         one that was started without\n\
         baton sessions close {name}, then baton sessions resume {name}, starts one that is"
    )]
    NotConfined {
        /// Which session.
        name: SessionName,
    },
    /// A browser was to be paired with a code that does not count.
    #[error(
        "expected a code that pairs a browser, found one that does not count, or no longer\nbaton debug pair shows another one"
    )]
    BadPairingCode,
    /// A browser refused or failed.
    #[error(transparent)]
    Live(#[from] LiveError),
    /// The browser at an address that the caller named refused or failed.
    #[error(transparent)]
    Attach(LiveError),
    /// The request can be read, but makes no sense.
    #[error("expected {field} to be {expected}, found {found}")]
    Invalid {
        /// Which part of the request.
        field: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
    /// The request carries no key that opens anything.
    #[error("expected \"Authorization: Bearer KEY\" with a valid key, found {found}")]
    Unauthenticated {
        /// What it carries instead; never the key itself.
        found: &'static str,
    },
    /// The request carries a token that opens nothing.
    #[error(transparent)]
    Token(#[from] TokenRefusal),
    /// The address bears a ticket that opens nothing.
    #[error(
        "expected a ticket that opens this session, found {found}\n\
         POST /sessions/ID/cdp and baton sessions cdp give another one"
    )]
    BadTicket {
        /// What it is instead.
        found: &'static str,
    },
    /// The key does not allow it.
    #[error("expected a key with the scope {needed}, found one with {found}")]
    Forbidden {
        /// What is needed.
        needed: Scope,
        /// The scopes of the key.
        found: String,
    },
    /// The key is that of a peer with limits, which it would get around.
    #[error(
        "expected a message that a node has signed, for the key is shown by the peer {peer}, which is \
         limited to a part of sessions; found one without a signature\nbaton keys create makes a key \
         for you"
    )]
    KeyOfLimitedPeer {
        /// What the peer is called.
        peer: String,
    },
    /// Somebody asked too often.
    #[error("expected at most {limit} {what} a minute, found more")]
    TooManyRequests {
        /// What there were too many of.
        what: &'static str,
        /// How many there may be.
        limit: u32,
        /// How long to wait.
        wait: Duration,
    },
    /// Too many connections are held with one key.
    #[error(
        "expected at most {limit} connections at once with this key, or with all keys, found more\n\
         close some, or let limits.connections be more"
    )]
    TooManyConnections {
        /// How many there may be.
        limit: usize,
    },
    /// A file of the exchange folder cannot be written.
    #[error("the file cannot be written: {0}")]
    Exchange(DataError),
    /// A client of MCP names a session of the protocol that has ended, or is another key's.
    #[error("expected a session of the protocol that this key began, found none\ninitialize again")]
    NoMcpSession,
    /// Clients of MCP hold more sessions of the protocol than there may be.
    #[error("expected at most {limit} sessions of the protocol at once, found more")]
    TooManyMcpSessions {
        /// How many there may be.
        limit: usize,
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
    /// Where the session stands does not allow it.
    #[error("expected session {name} to be {expected}, found it {found}")]
    WrongState {
        /// Which session.
        name: SessionName,
        /// Where it would have to stand.
        expected: &'static str,
        /// Where it stands.
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
}

impl From<WayError> for NodeError {
    fn from(error: WayError) -> Self {
        Self::Sync(error.into())
    }
}

impl From<Stopping> for NodeError {
    fn from(_: Stopping) -> Self {
        Self::Live(LiveError::Stopping)
    }
}
