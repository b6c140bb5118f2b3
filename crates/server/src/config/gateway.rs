//! `[gateway]`: which agents are asked as if they were models, and how long they may take.

use super::values::{ConfigError, invalid, number};
use baton_agents::gateway::{
    AgentSettings, BUILT_IN_AGENT, GatewaySettings, Prompt, UpstreamSettings,
};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

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
    /// How it gets its task: `argument`, `stdin` or `file`.
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

/// How many agents a file names at most.
const MOST_AGENTS: usize = 100;
/// The longest that an agent may be said to take: a day, in seconds.
const LONGEST: i64 = 24 * 60 * 60;

/// Checks what one source says.
pub(super) fn read_gateway(
    origin: &str,
    texts: GatewayTexts,
) -> Result<GatewaySettings, ConfigError> {
    let usual = GatewaySettings::default();
    let limit = number(origin, "gateway.limit", texts.limit, 1..=LONGEST)?;
    let texts_of_agents = texts.agents.unwrap_or_default();
    if texts_of_agents.len() > MOST_AGENTS {
        let expected = format!("at most {MOST_AGENTS} agents");
        return Err(invalid(origin, "gateway.agents", expected, texts_of_agents.len()));
    }
    let mut agents: Vec<AgentSettings> = Vec::new();
    for text in texts_of_agents {
        let agent = read_agent(origin, text)?;
        if agent.name == BUILT_IN_AGENT || agents.iter().any(|one| one.name == agent.name) {
            let expected = "a name that no other agent has";
            return Err(invalid(origin, "gateway.agents.name", expected, agent.name));
        }
        agents.push(agent);
    }
    let upstream = texts.upstream.map(|text| read_upstream(origin, text));
    Ok(GatewaySettings {
        limit: limit.map_or(usual.limit, Duration::from_secs),
        agents,
        upstream: upstream.transpose()?,
    })
}

fn read_agent(origin: &str, text: AgentTexts) -> Result<AgentSettings, ConfigError> {
    let is_name = (1..=63).contains(&text.name.len())
        && text.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    if !is_name {
        let expected = "1 to 63 letters, digits, '-', '.' or '_'";
        let found = format!("{:?}", text.name);
        return Err(invalid(origin, "gateway.agents.name", expected, found));
    }
    if text.command.first().is_none_or(String::is_empty) {
        let expected = "a program and its arguments";
        return Err(invalid(origin, "gateway.agents.command", expected, "nothing"));
    }
    let prompt = match text.prompt.as_deref() {
        None | Some("argument") => Prompt::Argument,
        Some("stdin") => Prompt::Stdin,
        Some("file") => Prompt::File,
        Some(other) => {
            let expected = "argument, stdin or file";
            let found = format!("{other:?}");
            return Err(invalid(origin, "gateway.agents.prompt", expected, found));
        }
    };
    let AgentTexts { name, command, flavor, env, .. } = text;
    Ok(AgentSettings { name, command, prompt, flavor, env })
}

/// How often a model is asked for one answer at most, unless the settings say otherwise.
const USUAL_TURNS: u32 = 30;

/// What was found may hold a password, and is not repeated.
fn read_upstream(origin: &str, text: UpstreamTexts) -> Result<UpstreamSettings, ConfigError> {
    let expected = "an http or https address without a user";
    let wrong = || invalid(origin, "gateway.upstream.url", expected, "another text");
    let url: Url = text.url.parse().map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() {
        return Err(wrong());
    }
    let turns = number(origin, "gateway.upstream.turns", text.turns, 1..=1000)?;
    let UpstreamTexts { model, key_file, flavor, .. } = text;
    Ok(UpstreamSettings { url, model, key_file, turns: turns.unwrap_or(USUAL_TURNS), flavor })
}
