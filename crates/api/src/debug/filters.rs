//! Questions: of which requests and lines.

use super::check;
use super::console::ConsoleLevel;
use super::instant::EpochMs;
use super::token::TabToken;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use utoipa::{IntoParams, ToSchema};

/// Asks for the requests of a tab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GetNetwork {
    /// Comes back in the answer.
    #[serde(deserialize_with = "check::id")]
    pub request_id: String,
    /// Which tab.
    pub token: TabToken,
    /// Which requests; all when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<NetworkFilters>,
}

/// Which requests of a tab. What is left out does not count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct NetworkFilters {
    /// A regular expression that the URL must match somewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_pattern: Option<String>,
    /// One of these methods, in any case; all when empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub method: Vec<String>,
    /// At least this status. What has none yet does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_min: Option<u16>,
    /// At most this status. What has none yet does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_max: Option<u16>,
    /// Sent after this instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<EpochMs>,
    /// How many at most, from 1 on, 500 when left out: the newest. Together with `after` the next ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Only what is new, or has changed, after this `cursor` of another answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Only those older than the request of this number: the `older` of another answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// One request, by its number or by its `request_id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Whether bodies, and what went over a WebSocket, come along.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bodies: bool,
}

/// Asks for the console of a tab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GetConsole {
    /// Comes back in the answer.
    #[serde(deserialize_with = "check::id")]
    pub request_id: String,
    /// Which tab.
    pub token: TabToken,
    /// Which lines; all when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filters: Option<ConsoleFilters>,
}

/// Which lines of a console. What is left out does not count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct ConsoleFilters {
    /// One of these levels; all when empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub level: Vec<ConsoleLevel>,
    /// A regular expression that the message must match somewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_pattern: Option<String>,
    /// Written after this instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<EpochMs>,
    /// How many at most, from 1 on, 500 when left out: the newest. Together with `after` the next ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Only what came after this `cursor` of another answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// Only those older than this line: the `older` of another answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// One line, by its sequence number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
}

/// Whether an answer shows secrets, over HTTP.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Reveal {
    /// Show secrets, of a tab whose secrets are kept. Needs the scope `reveal` too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reveal: bool,
}

/// How long a question may wait, over HTTP, and whether its answer shows secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Wait {
    /// When nothing fits, so many seconds for what comes, at most 20. Together with `after` this
    /// follows a tab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<u16>,
    /// Show secrets, of a tab whose secrets are kept. Needs the scope `reveal` too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reveal: bool,
}

/// It waits so long, in whole seconds, and shows no secrets.
impl From<Duration> for Wait {
    fn from(wait: Duration) -> Self {
        let seconds = u16::try_from(wait.as_secs()).ok().filter(|seconds| *seconds > 0);
        Self { wait: seconds, reveal: false }
    }
}
