//! `[gateway]` as it is typed.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// `[gateway]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct GatewayTexts {
    /// Seconds that an agent may take until it has answered.
    pub limit: Option<i64>,
    /// `[[gateway.agents]]`
    pub agents: Option<Vec<AgentTexts>>,
    /// `[gateway.upstream]`
    pub upstream: Option<UpstreamTexts>,
}

/// `[[gateway.agents]]`: a command that is asked as if it were a model.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct AgentTexts {
    /// What requests call it.
    pub name: String,
    /// A program and its arguments.
    pub command: Vec<String>,
    /// How it is told what to do: `argument`, `stdin` or `file`.
    pub prompt: Option<String>,
    /// What is in its sandbox: one of `[[sandboxes.flavors]]`.
    pub flavor: Option<String>,
    /// Variables of every command in its sandbox.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// `[gateway.upstream]`: the model of the agent that is built in.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct UpstreamTexts {
    /// Where it answers, without `/chat/completions`.
    pub url: String,
    /// What it is called there.
    pub model: String,
    /// The file with the key with which it is asked.
    pub key_file: Option<PathBuf>,
    /// How often it is asked for one answer at most.
    pub turns: Option<i64>,
    /// What is in the agent's sandbox: one of `[[sandboxes.flavors]]`.
    pub flavor: Option<String>,
}
