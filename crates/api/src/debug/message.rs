//! Connections to the relay: how a person's browser is paired, the messages by who sends them, and why a
//! connection ends, with which code.

use super::answer::{
    ConsoleData, DebugError, GetConsole, GetNetwork, NetworkData, TabAccepted, TabList,
};
use super::event::{ConsoleEvent, NetworkEvent};
use super::{TabAvailable, TabClosed, TabUpdated};
use crate::upstream::UpstreamId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use url::Url;
use utoipa::ToSchema;

/// The largest message, in bytes.
pub const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// The longest reason for a refusal, in characters.
const MAX_REASON: usize = 300;

/// A message that is not understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMessage {
    /// It is too long to be looked at.
    #[error("expected a message of up to {MAX_MESSAGE_BYTES} bytes, found {0}")]
    TooLong(usize),
    /// It has another form.
    #[error("expected a message of the debug protocol, found another: {0}")]
    Form(String),
}

/// What a browser sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub enum BrowserMessage {
    /// A tab can be looked into.
    #[serde(rename = "browser_debug_tab_available")]
    TabAvailable(TabAvailable),
    /// A tab can no longer be looked into.
    #[serde(rename = "browser_debug_tab_closed")]
    TabClosed(TabClosed),
    /// A tab shows something else.
    #[serde(rename = "browser_debug_tab_updated")]
    TabUpdated(TabUpdated),
    /// Something happened to a request.
    #[serde(rename = "browser_debug_network_event")]
    Network(NetworkEvent),
    /// Something was written to the console.
    #[serde(rename = "browser_debug_console_event")]
    Console(ConsoleEvent),
    /// Keeps the connection: browsers drop one that is silent for 30 s. Comes back.
    #[serde(rename = "browser_debug_heartbeat")]
    Heartbeat {},
}

/// What whoever looks into tabs sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub enum ClientMessage {
    /// Which tabs are there?
    #[serde(rename = "browser_debug_list_tabs")]
    ListTabs {},
    /// What did a tab ask for?
    #[serde(rename = "browser_debug_get_network")]
    GetNetwork(GetNetwork),
    /// What did a tab write?
    #[serde(rename = "browser_debug_get_console")]
    GetConsole(GetConsole),
    /// Keeps the connection. Comes back.
    #[serde(rename = "browser_debug_heartbeat")]
    Heartbeat {},
}

/// What the relay sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type")]
pub enum RelayMessage {
    /// A tab that was offered is taken.
    #[serde(rename = "browser_debug_tab_accepted")]
    TabAccepted(TabAccepted),
    /// The tabs that are there.
    #[serde(rename = "browser_debug_tabs")]
    Tabs(TabList),
    /// The requests of a tab.
    #[serde(rename = "browser_debug_network_data")]
    NetworkData(NetworkData),
    /// The console of a tab.
    #[serde(rename = "browser_debug_console_data")]
    ConsoleData(ConsoleData),
    /// A message could not be done.
    #[serde(rename = "browser_debug_error")]
    Error(DebugError),
    /// The answer to one.
    #[serde(rename = "browser_debug_heartbeat")]
    Heartbeat {},
}

impl BrowserMessage {
    /// Reads one.
    pub fn read(text: &str) -> Result<Self, BadMessage> {
        read(text)
    }
}

impl ClientMessage {
    /// Reads one.
    pub fn read(text: &str) -> Result<Self, BadMessage> {
        read(text)
    }
}

impl RelayMessage {
    /// Reads one.
    pub fn read(text: &str) -> Result<Self, BadMessage> {
        read(text)
    }
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, BadMessage> {
    if text.len() > MAX_MESSAGE_BYTES {
        return Err(BadMessage::TooLong(text.len()));
    }
    serde_json::from_str(text).map_err(|error| {
        // It repeats what was found, however long that is.
        BadMessage::Form(error.to_string().chars().take(MAX_REASON).collect())
    })
}

/// Why the node ends a connection to the relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkEnd {
    /// The other side left.
    Left,
    /// The node ends.
    Ending,
    /// What comes cannot be understood.
    Garbage,
    /// A message is too long.
    TooLong,
    /// Too many connections are held with the same key.
    TooMany,
    /// The ticket does not count, or no longer.
    NoTicket,
    /// The key was revoked.
    Revoked,
    /// Nothing came for too long.
    Silent,
    /// The same browser came again.
    Replaced,
}

impl LinkEnd {
    /// All that there are, by their codes.
    pub const ALL: [Self; 9] = [
        Self::Left,
        Self::Ending,
        Self::Garbage,
        Self::TooLong,
        Self::TooMany,
        Self::NoTicket,
        Self::Revoked,
        Self::Silent,
        Self::Replaced,
    ];

    /// The close code of the `WebSocket` (RFC 6455, 7.4): up to 4000 as registered, the others are ours.
    pub fn code(self) -> u16 {
        match self {
            Self::Left => 1000,
            Self::Ending => 1001,
            Self::Garbage => 1008,
            Self::TooLong => 1009,
            Self::TooMany => 1013,
            Self::NoTicket => 4401,
            Self::Revoked => 4403,
            Self::Silent => 4408,
            Self::Replaced => 4409,
        }
    }

    /// Why, for people.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Left => "",
            Self::Ending => "the node ends",
            Self::Garbage => "messages cannot be understood",
            Self::TooLong => "a message is too long",
            Self::TooMany => "too many connections with this key",
            Self::NoTicket => "the ticket does not count",
            Self::Revoked => "the key was revoked",
            Self::Silent => "nothing came for too long",
            Self::Replaced => "this browser came again",
        }
    }
}

/// What a person types into the extension.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PairingCode {
    /// Counts once, such as `K7QM-2XPD`; at a node of a cluster `K7QM-2XPD-4T`.
    pub code: String,
    /// The node's address.
    pub address: Url,
    /// Until when the code counts.
    pub expires_at: jiff::Timestamp,
}

/// The extension gives the code back.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExchangePairing {
    /// As the person typed it; letters of either case, with or without the hyphen.
    pub code: String,
    /// Which browser: the same as long as the extension is installed. 1 to 36 letters, digits and hyphens.
    pub browser_id: String,
}

/// A browser that is paired.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PairedBrowser {
    /// Its key, with the scope `browser`: it may tell of tabs, and nothing else.
    pub key: String,
    /// Where it tells.
    pub signaling_url: Url,
}

/// A paired browser is about to connect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConnectBrowser {
    /// Which browser.
    pub browser_id: String,
}

/// With what it connects, and what it watches.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrowserConnection {
    /// Opens one connection, within half a minute, as the subprotocol `baton.ticket.` and this.
    pub ticket: String,
    /// Where to.
    pub signaling_url: Url,
    /// Whose pages it watches, and no others.
    pub cocoons: Vec<WatchedUpstream>,
    /// The longest body that is of use, in bytes.
    pub response_body_max_size: usize,
    /// Which names mean a secret at this node, and which do not: the browser hides by them too.
    #[serde(default)]
    pub redact: OwnNames,
}

/// Names besides those that are known anyway: `[debug] redact`, at most 1,000 of each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnNames {
    /// Names whose values are secrets.
    pub names: Vec<String>,
    /// Names whose values are none, unless they are known keys.
    pub allow: Vec<String>,
}

/// A cocoon whose pages are watched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = WatchedCocoon)]
pub struct WatchedUpstream {
    /// Which one.
    pub id: UpstreamId,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Scheme, host and port of its pages, such as `http://shop.localhost:8081`.
    pub origin: String,
    /// With what the paths of its pages begin: `/`, or `/proxy/shop/`.
    pub path: String,
}

/// Codes, keys and tickets are secrets.
macro_rules! hides {
    ($($name:ident)*) => {$(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(***)"))
            }
        }
    )*};
}

hides! { PairingCode ExchangePairing PairedBrowser BrowserConnection }
