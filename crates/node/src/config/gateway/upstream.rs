//! `[gateway.upstream]`: the model of the agent that is built in.

use super::texts::UpstreamTexts;
use crate::config::choices::{invalid, number};
use crate::config::error::ConfigError;
use std::path::PathBuf;
use url::Url;

/// How often a model is asked for one answer at most, unless the settings say otherwise.
const USUAL_TURNS: u32 = 30;

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

impl UpstreamSettings {
    /// What was found may hold a password, and is not repeated.
    pub(super) fn check(origin: &str, text: UpstreamTexts) -> Result<Self, ConfigError> {
        let expected = "an http or https address without a user";
        let wrong = || invalid(origin, "gateway.upstream.url", expected, "another text");
        let url: Url = text.url.parse().map_err(|_| wrong())?;
        if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() {
            return Err(wrong());
        }
        let turns = number(origin, "gateway.upstream.turns", text.turns, 1..=1000)?;
        let UpstreamTexts { model, key_file, flavor, .. } = text;
        Ok(Self { url, model, key_file, turns: turns.unwrap_or(USUAL_TURNS), flavor })
    }
}
