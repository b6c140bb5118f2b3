//! Marks of what is missing.

use super::instant::EpochMs;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
