//! An agent's own entry on the board.

use crate::stamp::Stamp;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What an agent says of itself. Nobody else writes it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Agent {
    /// In a word of its own: `active`, `idle`, `standby`, `available` …
    #[serde(default)]
    pub status: String,
    /// What it works on, in a sentence.
    #[serde(default)]
    pub current_task: Option<String>,
    /// When it last did something on the board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<Stamp>,
    /// The folder in which it works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The model that it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Fields of other programs.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl Agent {
    /// Whether it has not been seen for longer than `gone_after`.
    pub fn is_gone(&self, now: Timestamp, gone_after: SignedDuration) -> bool {
        let seen = self.last_seen.as_ref().and_then(Stamp::instant);
        seen.is_none_or(|seen| now.duration_since(seen) > gone_after)
    }
}
