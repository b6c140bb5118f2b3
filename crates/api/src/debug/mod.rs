//! Debug: what goes between browsers, the relay and whoever looks into a tab.
//!
//! The one idea: names on the wire are those of the protocol `browser_debug_*`, and what we add to it
//! may be left out, so programs that know the protocol alone are understood and understand us. Fields
//! that nobody here knows are ignored; values that make no sense are refused with a reason. Instants
//! are milliseconds since 1970 everywhere.
//!
//! Rooms: [`NetworkRequest`] and [`ConsoleEntry`] are what there is to see, [`NetworkFilters`] and
//! [`ConsoleFilters`] say of what, [`NetworkEvent`] and [`ConsoleEvent`] bring it, [`DebugTab`] is where
//! it happened; [`NetworkData`] and [`ConsoleData`] answer, with [`Gap`]s where something is missing;
//! [`BrowserMessage`], [`ClientMessage`] and [`RelayMessage`] are the messages.

mod answer;
mod check;
mod event;
mod message;
mod network;
mod tab;

pub use answer::{
    ConsoleData, ConsoleFilters, DebugError, DebugErrorCode, DebugTabs, Gap, GapReason, GetConsole,
    GetNetwork, NetworkData, NetworkFilters, Reveal, TabAccepted, TabList, Wait,
};
pub use check::EpochMs;
pub use event::{
    Answered, ConsoleEvent, Failed, Finished, NetworkChange, NetworkEvent, Redirected, Requested,
    SocketEvent,
};
pub use message::{
    BadMessage, BrowserConnection, BrowserMessage, ClientMessage, ConnectBrowser, ExchangePairing,
    LinkEnd, MAX_MESSAGE_BYTES, PairedBrowser, PairingCode, RelayMessage, WatchedUpstream,
};
pub use network::{
    ConsoleEntry, ConsoleLevel, Direction, Headers, NetworkRequest, ResourceType, SocketMessage,
    Source,
};
pub use tab::{DebugTab, TabAvailable, TabClosed, TabToken, TabUpdated};
