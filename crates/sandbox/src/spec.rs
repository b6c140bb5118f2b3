//! What a sandbox is made of.

use crate::network::Network;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What a sandbox is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct SandboxSpec {
    /// Its name: letters, digits and dashes, unique among what runs on this machine.
    pub name: String,
    /// What of this machine it sees beside programs and libraries, read-only.
    pub mounts: Vec<Mount>,
    /// The environment of every command in it.
    pub env: BTreeMap<String, String>,
    /// More of it: variables that name a file of the workspace, from there on.
    pub files: BTreeMap<String, String>,
    /// What it may reach.
    pub network: Network,
    /// What it may use.
    pub limits: Limits,
}

/// Something of this machine that a sandbox sees, read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Where it is on this machine.
    pub source: PathBuf,
    /// Where the sandbox sees it.
    pub target: PathBuf,
}

/// What a sandbox may use. Files are in memory, so they count as memory, too.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Memory of all processes and files, in bytes.
    pub memory: u64,
    /// Processes and threads.
    pub processes: u32,
    /// Processors; 0.5 is half of one.
    pub processors: f64,
    /// Files in the workspace, in bytes.
    pub disk: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 2 << 30, processes: 512, processors: 2.0, disk: 1 << 30 }
    }
}
