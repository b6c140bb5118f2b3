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
mod close;
mod console;
mod event;
mod filters;
mod gap;
mod instant;
mod message;
mod network;
mod pair;
mod resource;
mod socket;
mod tab;
mod token;

pub use answer::{
    ConsoleData, DebugError, DebugErrorCode, DebugTabs, NetworkData, TabAccepted, TabList,
};
pub use close::LinkEnd;
pub use console::{ConsoleEntry, ConsoleLevel};
pub use event::{
    Answered, ConsoleEvent, Failed, Finished, NetworkChange, NetworkEvent, Redirected, Requested,
    SocketEvent,
};
pub use filters::{ConsoleFilters, GetConsole, GetNetwork, NetworkFilters, Reveal, Wait};
pub use gap::{Gap, GapReason};
pub use instant::EpochMs;
pub use message::{BadMessage, BrowserMessage, ClientMessage, MAX_MESSAGE_BYTES, RelayMessage};
pub use network::{Headers, NetworkRequest, Source};
pub use pair::{
    BrowserConnection, ConnectBrowser, ExchangePairing, PairedBrowser, PairingCode, WatchedCocoon,
};
pub use resource::ResourceType;
pub use socket::{Direction, SocketMessage};
pub use tab::{DebugTab, TabAvailable, TabClosed, TabUpdated};
pub use token::TabToken;
