//! The first words on a keeper's socket, before CDP flows: NUL-delimited JSON in both directions.

use baton_session::SessionId;
use serde::{Deserialize, Serialize};

/// The version of this protocol; a keeper may be older than the node that finds it.
pub(super) const VERSION: u32 = 1;

/// What a client may see and do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The node: sees Baton's hidden pages and may use the domain `Baton`. One at a time.
    Node,
    /// Anyone else: an agent, a library, a person.
    Client,
}

/// What a client says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Greeting {
    /// The first frame.
    Hello {
        /// As what it comes.
        role: Role,
        /// The protocol that it speaks.
        version: u32,
    },
}

/// What a keeper answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Answer {
    /// CDP flows from here on.
    Welcome(Welcome),
    /// The keeper closes the connection; the text says why.
    Refused(String),
}

/// Whose browser this is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Welcome {
    /// The session.
    pub session: SessionId,
    /// The keeper's process.
    pub pid: u32,
    /// The browser's process; none when it was attached.
    pub browser_pid: Option<u32>,
    /// What the browser says of itself, such as `Chrome/156.0.8078.79`.
    pub browser_version: String,
    /// Whether the browser was attached and will outlive the keeper.
    pub attached: bool,
}
