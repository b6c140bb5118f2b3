//! Requests that begin a session: open a browser, or attach to one that runs.

use crate::files::SharedFolder;
use baton_session::{Environment, SessionName};
use serde::{Deserialize, Serialize};
use url::Url;
use utoipa::ToSchema;

/// Opens a session in a browser of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenSession {
    /// Unique among the owner's sessions that are not closed.
    pub name: SessionName,
    /// Free text for people, at most 1000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A tab for each of these `http`, `https` or `about` addresses, the first one in front; at
    /// most 50. None: one blank tab.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<Url>,
    /// Whether the browser shows a window.
    #[serde(default)]
    pub headed: bool,
    /// Whether what its tabs do, network and console, is recorded, from the first byte on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub debug: bool,
    /// Whether their secrets are kept too, in memory, for keys with the scope `reveal`: as long as its
    /// first browser runs. Needs that scope, and `debug`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reveal: bool,
    /// Folders of the node's machine that its browser sees, on this node, for as long as the session
    /// is there. For the owner `local` alone, and a key with the scope `admin`: such a folder may hold
    /// anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<SharedFolder>,
    /// What pages see of the world; a field left out is the browser's own.
    #[serde(default)]
    pub environment: Environment,
}

impl OpenSession {
    /// Opens a session of this name with a tab for each of these addresses; all else is as usual.
    pub fn new(name: SessionName, urls: impl IntoIterator<Item = Url>) -> Self {
        Self {
            name,
            description: None,
            urls: urls.into_iter().collect(),
            headed: false,
            debug: false,
            reveal: false,
            files: Vec::new(),
            environment: Environment::default(),
        }
    }
}

/// Attaches to a browser that someone else started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachSession {
    /// Unique among the owner's sessions that are not closed.
    pub name: SessionName,
    /// Free text for people, at most 1000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The browser's DevTools address: `http://127.0.0.1:9222` or `ws://127.0.0.1:9222/devtools/…`.
    /// Only this machine's loopback addresses are accepted.
    pub cdp_url: Url,
}

/// Switches on or off whether what a session's tabs do is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchDebug {
    /// Whether it is recorded from now on. What was recorded is forgotten when it is not.
    pub on: bool,
    /// Whether secrets of its tabs are kept too, in memory, for keys with the scope `reveal`: from now on,
    /// as long as its browser runs. Those that were kept are forgotten when it is not. Needs that scope.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reveal: bool,
}
