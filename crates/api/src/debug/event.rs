//! Events: what a browser reports of a tab, as it happens.

use super::check::EpochMs;
use super::network::{ConsoleEntry, Headers, ResourceType, SocketMessage, Source};
use super::{TabToken, check};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Something happened to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NetworkEvent {
    /// In which tab.
    pub token: TabToken,
    /// Which event of the tab it is, in the sender's count from 1 on, console included. What is sent
    /// again is known by it, and what was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Who saw it; left out, the debugger.
    #[serde(default)]
    pub source: Source,
    /// What happened.
    #[serde(flatten)]
    pub change: NetworkChange,
}

/// Something was written to the console.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConsoleEvent {
    /// In which tab.
    pub token: TabToken,
    /// Which event of the tab it is, in the sender's count from 1 on, network included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// The line.
    pub entry: ConsoleEntry,
}

/// What happened to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "event", content = "data", rename_all = "lowercase")]
pub enum NetworkChange {
    /// It was sent. Once more with the same id: it was redirected.
    Request(Requested),
    /// The answer began.
    Response(Answered),
    /// The answer is complete.
    Finished(Finished),
    /// It failed.
    Failed(Failed),
    /// A message went over its WebSocket.
    Message(SocketEvent),
}

/// A request was sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Requested {
    /// The browser's id.
    #[serde(deserialize_with = "check::id")]
    pub request_id: String,
    /// When.
    #[serde(deserialize_with = "check::of_event")]
    pub timestamp: EpochMs,
    /// Such as `GET`.
    #[serde(deserialize_with = "check::method")]
    pub method: String,
    /// Where to.
    pub url: String,
    /// What was sent along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<Headers>,
    /// What was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Whether `body` was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub body_truncated: bool,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<ResourceType>,
    /// The address of the frame it belongs to; left out for the page itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// The script of the worker it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The answer that led here, when the request was redirected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_response: Option<Redirected>,
}

/// The answer that redirected a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Redirected {
    /// Its status.
    #[serde(deserialize_with = "check::status")]
    pub status: u16,
    /// Such as `Found`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_text: Option<String>,
    /// What came along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<Headers>,
}

/// An answer began.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Answered {
    /// The browser's id of the request.
    #[serde(deserialize_with = "check::id")]
    pub request_id: String,
    /// When.
    #[serde(deserialize_with = "check::of_event")]
    pub timestamp: EpochMs,
    /// Its status; 0 where the browser hides it.
    #[serde(deserialize_with = "check::status")]
    pub status: u16,
    /// Such as `OK`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_text: Option<String>,
    /// What came along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<Headers>,
    /// Such as `text/html`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Where the request went: an answer whose request was missed is shown by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<ResourceType>,
    /// Whether it came from a cache.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_cache: bool,
}

/// An answer is complete.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Finished {
    /// The browser's id of the request.
    #[serde(deserialize_with = "check::id")]
    pub request_id: String,
    /// When.
    #[serde(deserialize_with = "check::of_event")]
    pub timestamp: EpochMs,
    /// What came, where the browser has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Whether `body` was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub body_truncated: bool,
    /// Whether `body` is base64.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub body_base64: bool,
    /// What the body is, as its answer said: secrets are looked for accordingly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// From the request until now.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "check::millis")]
    pub duration_ms: Option<u64>,
    /// Bytes that came over the network.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "check::bytes")]
    pub transfer_size: Option<u64>,
    /// Bytes of the whole body, unpacked.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "check::bytes")]
    pub body_size: Option<u64>,
}

/// A request failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Failed {
    /// The browser's id of the request.
    #[serde(deserialize_with = "check::id")]
    pub request_id: String,
    /// When.
    #[serde(deserialize_with = "check::of_event")]
    pub timestamp: EpochMs,
    /// The browser's word, such as `net::ERR_CONNECTION_REFUSED`.
    pub error: String,
    /// From the request until now.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "check::millis")]
    pub duration_ms: Option<u64>,
}

/// A message went over a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SocketEvent {
    /// The browser's id of the request that opened it.
    #[serde(deserialize_with = "check::id")]
    pub request_id: String,
    /// The message.
    #[serde(flatten)]
    pub message: SocketMessage,
}

impl NetworkChange {
    /// The browser's id of the request.
    pub fn request_id(&self) -> &str {
        match self {
            Self::Request(event) => &event.request_id,
            Self::Response(event) => &event.request_id,
            Self::Finished(event) => &event.request_id,
            Self::Failed(event) => &event.request_id,
            Self::Message(event) => &event.request_id,
        }
    }

    /// When it happened.
    pub fn timestamp(&self) -> EpochMs {
        match self {
            Self::Request(event) => event.timestamp,
            Self::Response(event) => event.timestamp,
            Self::Finished(event) => event.timestamp,
            Self::Failed(event) => event.timestamp,
            Self::Message(event) => event.message.timestamp,
        }
    }
}
