//! Questions to the relay, of which requests and lines, and its answers, with marks of what is missing.

use super::check::EpochMs;
use super::network::{ConsoleEntry, ConsoleLevel, NetworkRequest};
use super::{DebugTab, TabToken, check};
use crate::session::EgressHost;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;
use utoipa::{IntoParams, ToSchema};

/// The tabs of the caller's cocoons and sessions, as the relay tells them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TabList {
    /// In the order in which they came.
    pub tabs: Vec<DebugTab>,
}

/// The tabs of the caller's cocoons and sessions, as a list like any other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DebugTabs {
    /// Newest first, node by node.
    pub items: Vec<DebugTab>,
    /// The nodes of the cluster that did not answer, by their names: tabs of theirs are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// A tab that a browser offered is taken.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TabAccepted {
    /// What the browser offered it by.
    pub offered: String,
    /// What it is called from now on, in every event.
    pub token: TabToken,
    /// The last event that the relay has of it: what comes after may be sent again.
    pub last_seq: u64,
    /// With this in the place of what a page brought the same browser offers the tab again, after the
    /// connection was lost. Counts for a day.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub resume: String,
    /// Whether secrets of the tab are kept from now on: only then they may be sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revealed: bool,
}

/// What was offered may be the token of the header.
impl fmt::Debug for TabAccepted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TabAccepted({} at event {})", self.token, self.last_seq)
    }
}

/// The requests of a tab.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NetworkData {
    /// The question's; left out over HTTP.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub request_id: String,
    /// As they happened: the newest last. After a cursor as they changed.
    pub requests: Vec<NetworkRequest>,
    /// Give this as `after` to get what is new or changes from now on.
    #[serde(default)]
    pub cursor: u64,
    /// Give this as `before` to get older ones; left out when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older: Option<u64>,
    /// What is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// All hosts that the browser of the tab's session asked for since it started. Not after a cursor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<EgressHost>,
    /// The hosts that the way out of the tab's session refused or did not get through to, of all its tabs, since
    /// its browser started. Not after a cursor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_reached: Vec<EgressHost>,
}

/// The console of a tab.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConsoleData {
    /// The question's; left out over HTTP.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub request_id: String,
    /// As they were written: the newest last.
    pub entries: Vec<ConsoleEntry>,
    /// Give this as `after` to get what comes from now on.
    #[serde(default)]
    pub cursor: u64,
    /// Give this as `before` to get older ones; left out when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older: Option<u64>,
    /// What is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
}

/// A message could not be done.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DebugError {
    /// The question's, when there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The tab, when one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<TabToken>,
    /// What a browser offered, when that was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<String>,
    /// Why, in a word that programs may rely on.
    pub code: DebugErrorCode,
    /// Why, for people.
    pub message: String,
}

/// What was offered may be the token of the header.
impl fmt::Debug for DebugError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { request_id, token, code, message, .. } = self;
        write!(f, "DebugError({code:?}, {message:?}, of {request_id:?}, {token:?})")
    }
}

/// Why a message could not be done.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum DebugErrorCode {
    /// No such tab, or not any more, or it belongs to someone else.
    TabGone,
    /// The tab's browser is not connected.
    BrowserOffline,
    /// No answer came in time.
    Timeout,
    /// The message cannot be understood.
    InvalidMessage,
    /// The question makes no sense.
    InvalidFilter,
    /// What a tab was offered by is forged, expired or was used before.
    Untrusted,
    /// Its owner has so many tabs that no other one is taken now; it may be offered again.
    TooManyTabs,
    /// The secrets of the tab are not kept.
    NotRevealed,
}

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

/// Something is missing here, and how much.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Gap {
    /// Why.
    pub reason: GapReason,
    /// How much is missing: requests or lines that were dropped here, events that a browser dropped.
    /// Left out when nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<u64>,
    /// Whether it may be more than `missing`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// Its place among the tab's sequence numbers; left out for what is missing before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// When it was noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<EpochMs>,
}

/// Why something is missing.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum GapReason {
    /// The buffer was full, and the oldest went.
    BufferFull,
    /// Events were lost on their way from the browser.
    EventsLost,
    /// The browser was not connected.
    Disconnected,
    /// The page had begun to load before anyone looked.
    FirstLoad,
    /// The browser, or the relay, began anew: cursors from before mean nothing.
    Restarted,
}

impl GapReason {
    /// The reason for a person.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BufferFull => "the buffer was full",
            Self::EventsLost => "lost on their way from the browser",
            Self::Disconnected => "the browser was not connected",
            Self::FirstLoad => "the page had begun to load before anyone looked",
            Self::Restarted => "the browser or the relay began anew",
        }
    }
}
