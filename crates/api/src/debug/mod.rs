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
    LinkEnd, MAX_MESSAGE_BYTES, OwnNames, PairedBrowser, PairingCode, RelayMessage,
    WatchedUpstream,
};
pub use network::{
    ConsoleEntry, ConsoleLevel, Direction, Headers, NetworkRequest, ResourceType, SocketMessage,
    Source,
};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use utoipa::ToSchema;

/// A tab whose network and console can be asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DebugTab {
    /// Which one: give it back to ask.
    pub token: TabToken,
    /// In which browser.
    pub browser_id: String,
    /// The address that it shows.
    pub url: String,
    /// The page's title; empty when it has none.
    pub title: String,
    /// The cocoon, or the session, that it belongs to.
    pub cocoon_id: String,
    /// What people call that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cocoon_name: Option<String>,
    /// Its browser is not connected: what it told before is here, and nothing comes until it is back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub offline: bool,
    /// Its secrets are kept beside it, for those with the scope `reveal` who ask for them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revealed: bool,
}

impl DebugTab {
    /// What people call the cocoon or session that it belongs to, with a word when nothing comes of it.
    pub fn of(&self) -> String {
        let name = self.cocoon_name.as_ref().unwrap_or(&self.cocoon_id);
        match (self.offline, self.revealed) {
            (false, false) => name.clone(),
            (true, false) => format!("{name} (offline)"),
            (false, true) => format!("{name} (secrets kept)"),
            (true, true) => format!("{name} (offline, secrets kept)"),
        }
    }
}

/// A browser offers a tab.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TabAvailable {
    /// What the page's header brought, which counts once; or, after the connection was lost, the token
    /// that the tab got for it.
    pub token: String,
    /// Which browser: the same as long as the extension is installed.
    #[serde(deserialize_with = "check::id")]
    pub browser_id: String,
    /// The address that it shows.
    pub url: String,
    /// The page's title; empty when it has none.
    pub title: String,
    /// The address of its icon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub favicon: Option<String>,
    /// The life of the sender: another one each time it begins to count its events anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// Whether the page had begun to load before anyone looked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first_load: bool,
    /// Whether the person at the browser wants secrets of the tab to be kept too, for those with the scope
    /// `reveal` who ask for them. A tab that was accepted is offered again to change it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reveal: bool,
}

/// The token of the header is a secret until it was used.
impl fmt::Debug for TabAvailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TabAvailable(of browser {:?})", self.browser_id)
    }
}

/// A tab was closed, or left its origins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TabClosed {
    /// Which one.
    pub token: TabToken,
}

/// A tab shows another address, or has another title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TabUpdated {
    /// Which one.
    pub token: TabToken,
    /// The address that it shows.
    pub url: String,
    /// The page's title; empty when it has none.
    pub title: String,
}

/// Which debug tab. Opaque, safe in an address and in a log: it names a tab and opens nothing, for who
/// asks must own the tab.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, min_length = 8, max_length = 64)]
pub struct TabToken(String);

/// The characters of new ones: no two look alike.
const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
/// Of how many characters a new one is: 5 bits each.
const LENGTH: usize = 16;

/// A text that names no tab.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected the token of a tab: 8 to 64 letters, digits, '_' or '-', found {found}")]
pub struct InvalidTabToken {
    found: &'static str,
}

impl TabToken {
    /// A new one, of random bytes.
    pub fn new(random: [u8; LENGTH]) -> Self {
        let letter = |byte: u8| char::from(LETTERS[usize::from(byte) % LETTERS.len()]);
        Self(random.into_iter().map(letter).collect())
    }

    /// The token as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for TabToken {
    type Error = InvalidTabToken;

    fn try_from(text: String) -> Result<Self, InvalidTabToken> {
        // What was found is not said: people also give the token of the header, which is a secret.
        let found = match text.len() {
            0..8 => "a shorter text",
            8..=64 => "another character",
            _ => "a longer text",
        };
        let fits = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-');
        let is_token = (8..=64).contains(&text.len()) && text.bytes().all(fits);
        if is_token { Ok(Self(text)) } else { Err(InvalidTabToken { found }) }
    }
}

impl FromStr for TabToken {
    type Err = InvalidTabToken;

    fn from_str(text: &str) -> Result<Self, InvalidTabToken> {
        Self::try_from(text.to_owned())
    }
}

impl From<TabToken> for String {
    fn from(token: TabToken) -> Self {
        token.0
    }
}

impl fmt::Display for TabToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}
