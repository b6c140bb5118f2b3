//! What a request is for, by the browser's own words.

use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

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
