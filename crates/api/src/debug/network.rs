//! A request of a tab, with its answer.

use super::instant::EpochMs;
use super::resource::ResourceType;
use super::socket::SocketMessage;
use super::{check, instant};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Headers by name. A header that was sent more than once has its values on lines of their own.
pub type Headers = BTreeMap<String, String>;

/// Who saw it.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
)]
#[schema(as = DebugSource)]
pub enum Source {
    /// The extension, by `chrome.webRequest`: no bodies, but from the very first request on.
    #[serde(rename = "webRequest")]
    WebRequest,
    /// The extension, by `chrome.debugger`.
    #[default]
    #[serde(rename = "debugger")]
    Debugger,
    /// The node, in the browser of a session.
    #[serde(rename = "session")]
    Session,
}

/// A request of a tab, with what is known of its answer. Each hop of a redirect is one of its own.
#[expect(clippy::struct_excessive_bools, reason = "the fields are those of the wire")]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NetworkRequest {
    /// The browser's id; the hops of a redirect share it.
    #[serde(deserialize_with = "check::id")]
    pub request_id: String,
    /// When it was sent.
    #[serde(deserialize_with = "instant::of_event")]
    pub timestamp: EpochMs,
    /// Such as `GET`; `?` when its beginning was missed.
    pub method: String,
    /// Where it went.
    pub url: String,
    /// What was sent along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_headers: Option<Headers>,
    /// What was sent; may be cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_body: Option<String>,
    /// Whether `request_body` was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub request_body_truncated: bool,

    /// The status of the answer.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "check::optional_status"
    )]
    pub status: Option<u16>,
    /// Such as `OK`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_text: Option<String>,
    /// What came along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_headers: Option<Headers>,
    /// What came; may be cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_body: Option<String>,
    /// Whether `response_body` was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub response_body_truncated: bool,
    /// Whether `response_body` is base64.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub response_body_base64: bool,
    /// What came, in a word such as `text/html`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,

    /// From the request until its end.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "check::millis")]
    pub duration_ms: Option<u64>,
    /// Why it failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,

    /// Which of the tab's requests it is, from 1 on: a short id, for good.
    #[serde(default)]
    pub number: u64,
    /// The tab's sequence number of its last change.
    #[serde(default)]
    pub seq: u64,
    /// Who saw it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source: Vec<Source>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<ResourceType>,
    /// The address of the frame it belongs to; left out for the page itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// The script of the worker it belongs to; left out when it is no worker's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// How many redirects came before it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hop: u32,
    /// Whether it came to its end, by an answer, a failure or a redirect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
    /// Whether its beginning was missed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Whether the answer came from a cache.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_cache: bool,
    /// Bytes that came over the network, headers included.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "check::bytes")]
    pub transfer_size: Option<u64>,
    /// Bytes of the whole body, unpacked.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "check::bytes")]
    pub response_body_size: Option<u64>,
    /// What went over the WebSocket, the newest of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<SocketMessage>,
    /// How many older messages are no longer kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub messages_dropped: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl NetworkRequest {
    /// The same request without bodies and messages, which are many times as long as the rest.
    #[must_use]
    pub fn without_bodies(&self) -> Self {
        Self {
            request_id: self.request_id.clone(),
            method: self.method.clone(),
            url: self.url.clone(),
            request_headers: self.request_headers.clone(),
            request_body: None,
            status_text: self.status_text.clone(),
            response_headers: self.response_headers.clone(),
            response_body: None,
            mime_type: self.mime_type.clone(),
            error: self.error.clone(),
            source: self.source.clone(),
            frame: self.frame.clone(),
            worker: self.worker.clone(),
            messages: Vec::new(),
            ..*self
        }
    }
}
