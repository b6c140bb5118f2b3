//! What the two ends of a sandbox's socket say to each other: JSON, a message a packet.

use crate::command::Ended;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The longest message, in bytes. A packet has to fit into the socket's buffer, of which Linux grants
/// 212,992 bytes without asking.
pub(crate) const MESSAGE_MAX: usize = 128 * 1024;

/// What the first process is told.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Order {
    /// Get ready.
    Begin(Begin),
    /// Start a command; its input, output and errors come along as descriptors.
    Start(Start),
    /// Unpack a tar archive, which comes along as a descriptor.
    Unpack(Unpack),
    /// End a command and its process group at once.
    Kill { id: u64 },
    /// Ask all that runs to end, and tell when it has.
    Settle { id: u64 },
}

/// What makes a sandbox ready.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Begin {
    /// Small files and what is in them.
    pub(crate) files: BTreeMap<String, String>,
    /// Ports of the machine's loopback that are found at the loopback here, too.
    #[serde(default)]
    pub(crate) host_ports: Vec<u16>,
}

/// A command.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) id: u64,
    pub(crate) words: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) directory: String,
}

/// A tar archive, and the folder into which it goes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Unpack {
    pub(crate) id: u64,
    pub(crate) path: String,
}

/// What the first process tells. It comes from a sandbox, so it is believed about nothing else.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Notice {
    /// Commands may come.
    Ready,
    /// A command runs.
    Started { id: u64 },
    /// A command could not be started, or an archive not be unpacked.
    Failed { id: u64, reason: String },
    /// A command has ended, or an archive is unpacked.
    Ended { id: u64, ended: Ended },
    /// All that was asked to end by that order has, or not in time; and whether the browsers have.
    Settled { id: u64, whole: bool },
}
