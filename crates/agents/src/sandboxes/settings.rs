//! What a node is told of sandboxes: how many, what they may use and reach, what is in them.

use baton_sandbox::{Limits, Mount, Network};
use baton_session::Owner;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// The flavor of a sandbox whose maker names none.
pub const DEFAULT_FLAVOR: &str = "agent-ready";

/// When a profile is prepared before somebody asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prepare {
    /// When somebody asks for it.
    Never,
    /// Once the node has made a sandbox.
    Used,
    /// From the start on.
    Always,
}

/// What the settings say of sandboxes.
#[derive(Debug, Clone, PartialEq)]
pub struct SandboxSettings {
    /// How many there are at once at most, of all owners.
    pub most: usize,
    /// After which time one ends by itself, unless its maker says otherwise.
    pub ttl: Duration,
    /// The longest that its maker may say.
    pub longest_ttl: Duration,
    /// What they may reach.
    pub network: Network,
    /// What one may use at most.
    pub limits: Limits,
    /// Whether there may be some that isolate nothing, where bubblewrap is missing.
    pub allows_unsandboxed: bool,
    /// What may be in one, by name.
    pub flavors: BTreeMap<String, Flavor>,
    /// When what goes into one is prepared.
    pub prepare: Prepare,
    /// Who else is asked for a session that is handed in.
    pub services: Vec<SessionService>,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            most: 64,
            ttl: Duration::from_hours(1),
            longest_ttl: Duration::from_hours(24),
            network: Network::Public(Vec::new()),
            limits: Limits::default(),
            allows_unsandboxed: false,
            flavors: BTreeMap::from([(DEFAULT_FLAVOR.to_owned(), Flavor::default())]),
            prepare: Prepare::Used,
            services: Vec::new(),
        }
    }
}

/// What is in a sandbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flavor {
    /// What of this machine it sees besides programs and libraries, read-only.
    pub mounts: Vec<Mount>,
    /// Variables of every command in it.
    pub env: BTreeMap<String, String>,
}

/// Who else is asked for a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionService {
    /// Where it answers.
    pub url: Url,
    /// The file with the key with which it is asked.
    pub key_file: PathBuf,
    /// For whom it is asked.
    pub owner: Owner,
}
