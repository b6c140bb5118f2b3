//! Messages that go over a WebSocket.

use super::instant::EpochMs;
use super::{check, instant};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One message of a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SocketMessage {
    /// When it was seen.
    #[serde(deserialize_with = "instant::of_event")]
    pub timestamp: EpochMs,
    /// Which way it went.
    pub direction: Direction,
    /// What it says; base64 when it is binary. May be cut.
    pub payload: String,
    /// Whether it is binary.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
    /// Whether the payload was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub payload_truncated: bool,
    /// Bytes of the whole payload.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "check::bytes")]
    pub size: Option<u64>,
}

/// Which way a message went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the page.
    Sent,
    /// To the page.
    Received,
}
