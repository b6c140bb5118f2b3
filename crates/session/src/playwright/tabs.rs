//! The sessionStorage of a file that knows no tabs.
//!
//! The one idea: sessionStorage lives in a tab and ends with it, so each origin that has some gets a tab
//! at its root, in which its pages find it.

use crate::storage::{Entries, StorageKey};
use crate::tab::Tab;
use std::collections::BTreeMap;

/// The sessionStorage of a file, by storage key.
#[derive(Debug, Default)]
pub(super) struct Shown(BTreeMap<StorageKey, Entries>);

impl Shown {
    /// Notes what a key holds; what it holds already stays, unless it is named again.
    pub(super) fn add(&mut self, key: StorageKey, entries: Entries) {
        if !entries.is_empty() {
            self.0.entry(key).or_default().0.extend(entries.0);
        }
    }

    /// The tabs, the first one in front.
    pub(super) fn tabs(self) -> Vec<Tab> {
        let tab = |(position, (key, entries)): (usize, (StorageKey, Entries))| Tab {
            url: format!("{}/", key.origin()),
            active: position == 0,
            session_storage: BTreeMap::from([(key, entries)]),
            ..Tab::default()
        };
        self.0.into_iter().enumerate().map(tab).collect()
    }
}
