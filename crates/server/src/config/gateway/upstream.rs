//! `[gateway.upstream]`: the model of the agent that is built in.

use super::texts::UpstreamTexts;
use crate::config::error::ConfigError;
use crate::config::values::{invalid, number};
use baton_agents::gateway::UpstreamSettings;
use url::Url;

/// How often a model is asked for one answer at most, unless the settings say otherwise.
const USUAL_TURNS: u32 = 30;

/// What was found may hold a password, and is not repeated.
pub(super) fn read_upstream(
    origin: &str,
    text: UpstreamTexts,
) -> Result<UpstreamSettings, ConfigError> {
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
