//! Messages of the relay, by who sends them.

use super::answer::{ConsoleData, DebugError, NetworkData, TabAccepted, TabList};
use super::event::{ConsoleEvent, NetworkEvent};
use super::filters::{GetConsole, GetNetwork};
use super::tab::{TabAvailable, TabClosed, TabUpdated};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
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
