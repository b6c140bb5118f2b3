//! A line of a tab's console.

use super::instant;
use super::instant::EpochMs;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use utoipa::ToSchema;

/// How loud a line is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ConsoleLevel {
    /// `console.log`.
    Log,
    /// `console.debug`.
    Debug,
    /// `console.info`.
    Info,
    /// `console.warn`, and warnings of the browser.
    #[serde(alias = "warning")]
    Warn,
    /// `console.error`, exceptions and rejections, and errors of the browser.
    Error,
}

impl ConsoleLevel {
    /// All of them, as the protocol lists them.
    pub const ALL: [Self; 5] = [Self::Log, Self::Debug, Self::Info, Self::Warn, Self::Error];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for ConsoleLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A line of a tab's console.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConsoleEntry {
    /// When it was written.
    #[serde(deserialize_with = "instant::of_event")]
    pub timestamp: EpochMs,
    /// How loud it is.
    pub level: ConsoleLevel,
    /// What was given to the console.
    #[serde(default)]
    pub args: Vec<Value>,
    /// The same as one text; may be cut.
    pub message: String,
    /// The script that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Where in the script, from 1 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Where in the line, from 1 on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// How it came there, for errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack_trace: Option<String>,

    /// The tab's sequence number of the line, from 1 on: a short id, for good.
    #[serde(default)]
    pub seq: u64,
    /// The address of the frame it belongs to; left out for the page itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// The script of the worker it belongs to; left out when it is no worker's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// Whether `message` or `args` were cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}
