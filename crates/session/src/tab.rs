//! One tab: where it is, how it came there, and the sessionStorage that lives and dies with it.

use crate::storage::{Entries, StorageKey};
use crate::value::Value;
use baton_redaction::ShownAddress;
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

impl Tab {
    /// How a receipt names it: its address, without what may be secret in that.
    pub fn place(&self) -> String {
        ShownAddress::of(&self.url).into()
    }
}

/// The entries of a tab.
///
/// A browser tells the address of every entry, and a page tells of the entry that it stands at. What a
/// page told of an entry is remembered for as long as the entry is there, by the browser's own number
/// for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// The oldest first, the tab's own among them. None at all when there is nothing to tell but
    /// the tab's address.
    pub entries: Vec<HistoryEntry>,
    /// Which of them the tab is at, counted from 0.
    #[serde(default)]
    pub current: usize,
}

/// One entry of a tab's history.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryEntry {
    /// The browser's own number for it: means nothing to the next browser.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub id: i64,
    /// Its address.
    pub url: String,
    /// Its title; empty when it has none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Whether it shows the same document as the entry before it (`history.pushState`, `#`), so
    /// that going from one to the other loads nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_document: bool,
    /// `history.state`; none when it is null, or was never read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<Value>,
    /// How far the page was scrolled when it was last read.
    #[serde(default, skip_serializing_if = "Scroll::is_start")]
    pub scroll: Scroll,
}

/// How far a page is scrolled, in whole CSS pixels. Pages that run from right to left count below
/// zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scroll {
    /// To the right.
    pub x: i32,
    /// Down.
    pub y: i32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(id: &i64) -> bool {
    *id == 0
}

impl Scroll {
    /// Whether the page is where it began.
    pub fn is_start(&self) -> bool {
        *self == Self::default()
    }
}

impl History {
    /// Whether there is nothing to tell but the tab's address.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry that the tab is at; none also in a history whose count is off.
    pub fn here(&self) -> Option<&HistoryEntry> {
        self.entries.get(self.current)
    }

    /// Takes over what `before` knows of the same entries and the browser does not tell.
    pub fn recall(&mut self, before: &Self) {
        for entry in &mut self.entries {
            let known = before.entries.iter().find(|known| known.id != 0 && known.id == entry.id);
            let Some(known) = known else { continue };
            entry.same_document |= known.same_document;
            // An entry at another address was replaced since its page was read.
            if known.url == entry.url {
                entry.state.clone_from(&known.state);
                entry.scroll = known.scroll;
            }
        }
    }

    /// Drops a history that tells nothing but the tab's address.
    pub fn simplify(&mut self) {
        if let [HistoryEntry { state: None, scroll, .. }] = self.entries.as_slice()
            && scroll.is_start()
        {
            *self = Self::default();
        }
    }
}
