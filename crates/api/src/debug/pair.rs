//! Pairing: how a person's browser comes to tell a node of its tabs.

use crate::cocoon::CocoonId;
use serde::{Deserialize, Serialize};
use std::fmt;
use url::Url;
use utoipa::ToSchema;

/// What a person types into the extension.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PairingCode {
    /// Counts once, such as `K7QM-2XPD`.
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
    pub cocoons: Vec<WatchedCocoon>,
    /// The longest body that is of use, in bytes.
    pub response_body_max_size: usize,
}

/// A cocoon whose pages are watched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WatchedCocoon {
    /// Which one.
    pub id: CocoonId,
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
