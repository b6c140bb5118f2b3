//! `[gateway]`: which agents are asked as if they were models, and how long they may take.

mod agent;
mod texts;
mod upstream;

pub use texts::{AgentTexts, GatewayTexts, UpstreamTexts};

use super::error::ConfigError;
use super::values::{invalid, number};
use agent::read_agent;
use baton_agents::gateway::{AgentSettings, BUILT_IN_AGENT, GatewaySettings};
use std::time::Duration;
use upstream::read_upstream;

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
