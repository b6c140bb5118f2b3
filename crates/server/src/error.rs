//! How an operation fails, and what that is for a client.

use crate::asking::AskRefusal;
use crate::cluster::{AskedFor, Kind, Unreachable};
use crate::page::PageError;
use baton_agents::AgentsError;
use baton_api::{Answers, ErrorCode, Invalid, by_way_of};
use baton_debug::LookError;
use baton_federation::FederationError;
use baton_net::WayError;
use baton_proxy::UpstreamError;
use baton_proxy::upstreams::ServicesError;
use baton_runtime::RuntimeError;
use baton_runtime::error::file;
use baton_runtime::keys::NoKey;
use baton_runtime::live::LiveError;
use baton_session::NodeId;
use baton_session::login::NoLogin;
use baton_store::StoreError;
use baton_store::blocking::Stopping;
use baton_store::data::{DataError, FileError};
use baton_sync::SyncError;
use baton_sync::messages::Untrusted;
use baton_sync::oidc::{SignInRefusal, TokenRefusal};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// Why an operation was not done.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// An operation on a session was not done.
    #[error(transparent)]
    Runtime(RuntimeError),
    /// A session did not move, or a peer was not taken.
    #[error(transparent)]
    Sync(SyncError),
    /// There is no answer about a tab.
    #[error(transparent)]
    Look(#[from] LookError),
    /// An upstream service is not as the request wants it.
    #[error(transparent)]
    UpstreamService(#[from] UpstreamError),
    /// An operation on agents was not done.
    #[error(transparent)]
    Agents(AgentsError),
    /// No other machine can ask this node, which is to invite one.
    #[error(
        "expected this node to listen where other machines reach it, found it on this machine alone\n\
         let it listen for peers too, in TLS: baton peers invite --listen 0.0.0.0:7421; or set \
         node.publicUrl where it is reached already"
    )]
    NotReachable,
    /// The listener for peers cannot be opened.
    #[error(
        "expected to listen for peers at {address}, found: {source}\n\
         name another address of this machine, or free that one: baton peers invite --close frees the \
         listener that there is"
    )]
    PeerListener {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// A browser was to be paired with a code that does not count.
    #[error(
        "expected a code that pairs a browser, found one that does not count, or no longer\nbaton debug pair shows another one"
    )]
    BadPairingCode,
    /// The page was to be signed in with a code that does not count.
    #[error(
        "expected a code that signs the page in, found {found}\nbaton dashboard opens the page with another one"
    )]
    BadPageCode {
        /// What it was instead.
        found: &'static str,
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
    /// A person who comes from a provider is not let in.
    #[error(transparent)]
    SignIn(#[from] SignInRefusal),
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
    /// The caller asked too often.
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
    /// A person is not asked, or a guest not let in.
    #[error(transparent)]
    Ask(#[from] AskRefusal),
    /// A file of the exchange folder cannot be written.
    #[error("the file cannot be written: {0}")]
    Exchange(DataError),
    /// The cluster has no such node.
    #[error(
        "expected a node of this cluster, found none called {id:?}\nbaton node list shows which there are"
    )]
    NodeNotFound {
        /// How it was called.
        id: String,
    },
    /// A node that is to be forgotten may be there still.
    #[error(
        "expected node {name} to be gone for good, found that {found}\n\
         end it first, and ask again then: baton node drain brings what it runs to other nodes"
    )]
    NodeNotGone {
        /// What it is called.
        name: String,
        /// What says so.
        found: String,
    },
    /// Another node passed a request on that is not for this one.
    #[error(
        "expected a request for node {here}, found one for {found}\nnode.internalUrl of the other node leads here: mend it there"
    )]
    ForOtherNode {
        /// This node.
        here: NodeId,
        /// For which one it is.
        found: NodeId,
    },
    /// Another node passed a request on that this node does not do for it.
    #[error(
        "expected a request about a session of this node, found {found}\nask again: the session may have moved"
    )]
    Misdirected {
        /// What it is about.
        found: &'static str,
    },
    /// A node passed a request on, and it cannot be told which.
    #[error(transparent)]
    PassedOn(#[from] Untrusted),
    /// A node that has what is asked for cannot be asked.
    #[error(
        "expected node {name}{asked} to answer at {url}, found: {found}\nask again in some seconds; {}",
        asked.hint()
    )]
    NodeUnreachable {
        /// What it is called.
        name: String,
        /// What it was asked for.
        asked: AskedFor,
        /// Where it is asked.
        url: String,
        /// What there was instead of an answer.
        found: String,
    },
    /// No node of the cluster takes one browser, or makes one sandbox, more.
    #[error(
        "expected a node with room for one {what} more, found none: {found}\n\
         ask again later, end what nobody needs, or add a node"
    )]
    NoNodeHasRoom {
        /// What for.
        what: Kind,
        /// How each node is.
        found: String,
    },
    /// The node is one by itself.
    #[error(
        "expected a node of a cluster, found one by itself\ncluster.name makes it one of several"
    )]
    NoCluster,
    /// The other nodes do not know that this one is there.
    #[error(
        "expected the other nodes to know that this one is there, found that the database was not told of late\n\
         ask again in some seconds"
    )]
    NotKnown,
    /// What runs here finds no room at the other nodes.
    #[error(
        "expected room for {needed} browsers at the other nodes, found room for {places}: {told}\n\
         add a node, or move what finds room: baton node drain --partly"
    )]
    NoRoomElsewhere {
        /// How many are to move.
        needed: usize,
        /// For how many there is room.
        places: u64,
        /// How each node is.
        told: String,
    },
    /// Only nodes of the cluster may ask this.
    #[error(
        "expected a node of this cluster to ask, found another caller\nbaton node drain moves sessions"
    )]
    NotANode,
    /// A client of MCP names a session of the protocol that has ended, or is another key's.
    #[error("expected a session of the protocol that this key began, found none\ninitialize again")]
    NoMcpSession,
    /// Clients of MCP hold more sessions of the protocol than there may be.
    #[error("expected at most {limit} sessions of the protocol at once, found more")]
    TooManyMcpSessions {
        /// How many there may be.
        limit: usize,
    },
}

impl From<Unreachable> for NodeError {
    fn from(Unreachable { name, asked, url, found, .. }: Unreachable) -> Self {
        Self::NodeUnreachable { name, asked, url, found }
    }
}

impl From<PageError> for NodeError {
    fn from(error: PageError) -> Self {
        match error {
            PageError::Data(error) => Self::Exchange(error),
            PageError::Store(error) => error.into(),
        }
    }
}

impl From<AgentsError> for NodeError {
    fn from(error: AgentsError) -> Self {
        match error {
            AgentsError::Runtime(error) => error.into(),
            AgentsError::Way(error) => error.into(),
            error => Self::Agents(error),
        }
    }
}

impl From<ServicesError> for NodeError {
    fn from(error: ServicesError) -> Self {
        match error {
            ServicesError::Runtime(error) => Self::Runtime(error),
            ServicesError::UpstreamService(error) => Self::UpstreamService(error),
        }
    }
}

impl From<SyncError> for NodeError {
    fn from(error: SyncError) -> Self {
        match error {
            SyncError::Runtime(error) => Self::Runtime(error),
            error => Self::Sync(error),
        }
    }
}

impl From<NoKey> for NodeError {
    fn from(NoKey { found }: NoKey) -> Self {
        Self::Unauthenticated { found }
    }
}

by_way_of! {
    NodeError:
        RuntimeError { StoreError, LiveError, FileError, FederationError, Invalid, NoLogin, Stopping }
        SyncError { RuntimeError, WayError }
}

impl Answers for NodeError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Runtime(error) => error.code(),
            Self::Sync(error) => error.code(),
            Self::Look(error) => look_code(error),
            Self::UpstreamService(error) => error.code(),
            Self::Agents(error) => error.code(),
            Self::Ask(refusal) => ask_code(refusal),
            Self::SignIn(refusal) => sign_in_code(refusal),
            Self::Exchange(DataError::Io { source, .. }) => file(source),
            // The protocol knows by 404 that it is to begin anew.
            Self::NoMcpSession => ErrorCode::RouteNotFound,
            Self::Token(refusal) if refusal.is_passing() => ErrorCode::ProviderUnavailable,
            Self::Token(_)
            | Self::Unauthenticated { .. }
            | Self::BadPairingCode
            | Self::BadPageCode { .. } => ErrorCode::Unauthenticated,
            Self::KeyOfLimitedPeer { .. } | Self::NotANode => ErrorCode::Forbidden,
            Self::TooManyRequests { .. }
            | Self::TooManyConnections { .. }
            | Self::TooManyMcpSessions { .. } => ErrorCode::TooManyRequests,
            Self::NodeNotFound { .. } => ErrorCode::NodeNotFound,
            Self::ForOtherNode { .. } | Self::Misdirected { .. } => ErrorCode::Misdirected,
            Self::PassedOn(_) => ErrorCode::Untrusted,
            Self::NodeUnreachable { .. } => ErrorCode::NodeUnreachable,
            Self::NotKnown => ErrorCode::StorageUnavailable,
            Self::NoNodeHasRoom { .. } | Self::NoRoomElsewhere { .. } => ErrorCode::NoRoom,

            Self::NotReachable => ErrorCode::NotReachable,
            Self::PeerListener { .. } | Self::NoCluster | Self::NodeNotGone { .. } => {
                ErrorCode::Conflict
            }
            Self::Exchange(_) => ErrorCode::Internal,
        }
    }

    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Runtime(error) => error.hint(),
            Self::Sync(error) => error.hint(),
            Self::UpstreamService(error) => error.hint(),
            Self::Agents(error) => error.hint(),
            error => baton_api::usual_hint(error.code()),
        }
    }
}

fn sign_in_code(refusal: &SignInRefusal) -> ErrorCode {
    match refusal {
        refusal if refusal.is_passing() => ErrorCode::ProviderUnavailable,
        SignInRefusal::NotOffered => ErrorCode::InvalidRequest,
        SignInRefusal::TooMany { .. } => ErrorCode::TooManyRequests,
        SignInRefusal::NoSecret { .. } => ErrorCode::Internal,
        SignInRefusal::NoRule { .. } => ErrorCode::Forbidden,
        _ => ErrorCode::Unauthenticated,
    }
}

fn ask_code(refusal: &AskRefusal) -> ErrorCode {
    match refusal {
        AskRefusal::Another { .. } => ErrorCode::Conflict,
        AskRefusal::TooMany | AskRefusal::TooManyViewers => ErrorCode::TooManyRequests,
        AskRefusal::Unknown { .. } => ErrorCode::AskNotFound,
        AskRefusal::BadLink { .. } | AskRefusal::NoGuest { .. } => ErrorCode::Unauthenticated,
        AskRefusal::NoSite | AskRefusal::NoName | AskRefusal::NoPlace => ErrorCode::InvalidRequest,
    }
}

fn look_code(error: &LookError) -> ErrorCode {
    match error {
        LookError::TabGone { .. } => ErrorCode::TabGone,
        LookError::BrowserOffline { .. } => ErrorCode::BrowserOffline,
        LookError::TooManyTabs { .. } => ErrorCode::StorageFull,
        LookError::NotRevealed { .. } => ErrorCode::Conflict,
        LookError::Ask(_) => ErrorCode::InvalidRequest,
    }
}
