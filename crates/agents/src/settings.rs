//! How a node is set up for sandboxes and agents: how many, what they may use and reach, how long they may
//! take.

use baton_sandbox::{Limits, Mount, Network};
use baton_session::Owner;
use baton_session::egress::Egress;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// The flavor of a sandbox whose maker names none.
pub const DEFAULT_FLAVOR: &str = "agent-ready";

/// When a profile is prepared before a caller asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prepare {
    /// When a caller asks for it.
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
    /// Its way to the network, if it has one of its own.
    pub egress: Option<Egress>,
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

/// The agent that is built in.
pub const BUILT_IN_AGENT: &str = "baseline-cli-agent";

/// What the settings say of the gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewaySettings {
    /// How long an agent may take until it has answered.
    pub limit: Duration,
    /// The agents, besides the one that is built in.
    pub agents: Vec<AgentSettings>,
    /// The model of the agent that is built in; none makes a node without it.
    pub upstream: Option<UpstreamSettings>,
}

impl Default for GatewaySettings {
    fn default() -> Self {
        Self { limit: Duration::from_mins(30), agents: Vec::new(), upstream: None }
    }
}

/// A command that is asked as if it were a model.
#[derive(Clone, PartialEq, Eq)]
pub struct AgentSettings {
    /// What requests call it.
    pub name: String,
    /// A program and its arguments.
    pub command: Vec<String>,
    /// How it gets its task.
    pub prompt: Prompt,
    /// What is in its sandbox; none means what a sandbox usually has.
    pub flavor: Option<String>,
    /// Variables of every command in its sandbox, such as keys.
    pub env: BTreeMap<String, String>,
}

/// How an agent gets its task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Prompt {
    /// As its last argument.
    #[default]
    Argument,
    /// On its standard input.
    Stdin,
    /// In a file, whose path is its last argument.
    File,
}

impl fmt::Debug for AgentSettings {
    /// Without the values of its variables, which may be keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.keys().collect();
        let mut told = f.debug_struct("AgentSettings");
        told.field("name", &self.name).field("command", &self.command);
        told.field("prompt", &self.prompt).field("flavor", &self.flavor).field("env", &names);
        told.finish()
    }
}

/// A model that speaks OpenAI's protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamSettings {
    /// Where it answers, without `/chat/completions`.
    pub url: Url,
    /// What it is called there.
    pub model: String,
    /// The file with the key with which it is asked; none asks without.
    pub key_file: Option<PathBuf>,
    /// How often it is asked for one answer at most.
    pub turns: u32,
    /// What is in the agent's sandbox; none means what a sandbox usually has.
    pub flavor: Option<String>,
}
