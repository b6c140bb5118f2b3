//! One tab: where it is, how it came there, and the sessionStorage that lives and dies with it.

use crate::history::History;
use crate::storage::{Entries, StorageKey};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A tab, in the order in which the window shows them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tab {
    /// The browser's own name for it (a DevTools target id): tells tabs apart while one browser
    /// lives, and means nothing to the next one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The address of the current history entry.
    pub url: String,
    /// The page's title; empty when it has none.
    #[serde(default)]
    pub title: String,
    /// Whether it is the one in front.
    #[serde(default)]
    pub active: bool,
    /// sessionStorage of every storage key that this tab has shown, also earlier ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub session_storage: BTreeMap<StorageKey, Entries>,
    /// Where back and forward lead, and how far the page is scrolled.
    #[serde(default, skip_serializing_if = "History::is_empty")]
    pub history: History,
}
