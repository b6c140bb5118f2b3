//! Answers of the relay.

use super::console::ConsoleEntry;
use super::gap::Gap;
use super::network::NetworkRequest;
use super::tab::DebugTab;
use super::token::TabToken;
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

/// The tabs of the caller's cocoons and sessions, as the relay tells them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TabList {
    /// In the order in which they came.
    pub tabs: Vec<DebugTab>,
}

/// The tabs of the caller's cocoons and sessions, as a list like any other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DebugTabs {
    /// Newest first.
    pub items: Vec<DebugTab>,
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
