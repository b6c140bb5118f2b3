//! Debug tabs: tabs whose network and console can be asked for.

use super::check;
use super::token::TabToken;
use serde::{Deserialize, Serialize};
use std::fmt;
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
