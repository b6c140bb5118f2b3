//! `[gateway]`: which agents are asked as if they were models, and how long they may take.

mod agent;
mod texts;
mod upstream;

pub use agent::{AgentSettings, Prompt};
pub use texts::{AgentTexts, GatewayTexts, UpstreamTexts};
pub use upstream::UpstreamSettings;

use super::choices::{invalid, number};
use super::error::ConfigError;
use std::time::Duration;

/// The agent that is built in.
pub const BUILT_IN_AGENT: &str = "baseline-cli-agent";
/// How many agents a file names at most.
const MOST_AGENTS: usize = 100;
/// The longest that an agent may be said to take: a day, in seconds.
const LONGEST: i64 = 24 * 60 * 60;

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

impl GatewaySettings {
    /// Checks what one source says.
    pub(super) fn check(origin: &str, texts: GatewayTexts) -> Result<Self, ConfigError> {
        let usual = Self::default();
        let limit = number(origin, "gateway.limit", texts.limit, 1..=LONGEST)?;
        let texts_of_agents = texts.agents.unwrap_or_default();
        if texts_of_agents.len() > MOST_AGENTS {
            let expected = format!("at most {MOST_AGENTS} agents");
            return Err(invalid(origin, "gateway.agents", expected, texts_of_agents.len()));
        }
        let mut agents: Vec<AgentSettings> = Vec::new();
        for text in texts_of_agents {
            let agent = AgentSettings::check(origin, text)?;
            if agent.name == BUILT_IN_AGENT || agents.iter().any(|one| one.name == agent.name) {
                let expected = "a name that no other agent has";
                return Err(invalid(origin, "gateway.agents.name", expected, agent.name));
            }
            agents.push(agent);
        }
        let upstream = texts.upstream.map(|text| UpstreamSettings::check(origin, text));
        Ok(Self {
            limit: limit.map_or(usual.limit, Duration::from_secs),
            agents,
            upstream: upstream.transpose()?,
        })
    }
}
