//! What there is to see of a tab: its requests with their answers, messages that go over a WebSocket, and the
//! lines of its console.

use super::check;
use super::check::EpochMs;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
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
    #[serde(deserialize_with = "check::of_event")]
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

/// What a request is for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase", from = "String")]
pub enum ResourceType {
    /// A page, or a page in a frame.
    Document,
    /// A style sheet.
    Stylesheet,
    /// An image.
    Image,
    /// Sound or film.
    Media,
    /// A font.
    Font,
    /// A script.
    Script,
    /// `XMLHttpRequest`.
    Xhr,
    /// `fetch`.
    Fetch,
    /// Server-sent events.
    EventSource,
    /// A WebSocket.
    WebSocket,
    /// The manifest of an app.
    Manifest,
    /// A beacon.
    Ping,
    /// The question before a request to another origin.
    Preflight,
    /// Anything else.
    Other,
}

impl ResourceType {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Stylesheet => "stylesheet",
            Self::Image => "image",
            Self::Media => "media",
            Self::Font => "font",
            Self::Script => "script",
            Self::Xhr => "xhr",
            Self::Fetch => "fetch",
            Self::EventSource => "eventsource",
            Self::WebSocket => "websocket",
            Self::Manifest => "manifest",
            Self::Ping => "ping",
            Self::Preflight => "preflight",
            Self::Other => "other",
        }
    }
}

/// Words of `Network.ResourceType` (CDP), of `webRequest.ResourceType` (extensions), and ours. New
/// browsers have new words: those are `Other`.
impl From<String> for ResourceType {
    fn from(word: String) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "document" | "main_frame" | "sub_frame" => Self::Document,
            "stylesheet" => Self::Stylesheet,
            "image" => Self::Image,
            "media" | "texttrack" => Self::Media,
            "font" => Self::Font,
            "script" => Self::Script,
            "xhr" | "xmlhttprequest" => Self::Xhr,
            "fetch" => Self::Fetch,
            "eventsource" => Self::EventSource,
            "websocket" => Self::WebSocket,
            "manifest" => Self::Manifest,
            "ping" => Self::Ping,
            "preflight" => Self::Preflight,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for ResourceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One message of a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SocketMessage {
    /// When it was seen.
    #[serde(deserialize_with = "check::of_event")]
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
    #[serde(deserialize_with = "check::of_event")]
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
