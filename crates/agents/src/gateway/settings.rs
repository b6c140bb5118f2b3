//! What a gateway is told: its agents, the model behind the built-in one, and how long they may take.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

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
    /// How it is told what to do.
    pub prompt: Prompt,
    /// What is in its sandbox; none means what a sandbox usually has.
    pub flavor: Option<String>,
    /// Variables of every command in its sandbox, such as keys.
    pub env: BTreeMap<String, String>,
}

/// How an agent is told what to do.
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
