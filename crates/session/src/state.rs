//! A state: everything that a browser held at one instant.

use crate::{Cookie, Database, Entries, Environment, StorageKey, Tab, Text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that a browser held at one instant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct State {
    /// Every cookie of the default context.
    pub cookies: Vec<Cookie>,
    /// localStorage and IndexedDB by storage key.
    pub origins: BTreeMap<StorageKey, OriginState>,
    /// Tabs in the order of the window.
    pub tabs: Vec<Tab>,
    /// Viewport, user agent, time zone, locale, geolocation.
    pub environment: Environment,
}

/// What one storage key holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct OriginState {
    /// localStorage.
    pub local_storage: Entries,
    /// IndexedDB databases by name.
    pub databases: Vec<Database>,
}

impl OriginState {
    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.local_storage.is_empty() && self.databases.is_empty()
    }

    /// The database with this name.
    pub fn database(&self, name: &Text) -> Option<&Database> {
        self.databases.iter().find(|database| &database.name == name)
    }
}

impl State {
    /// Sorts what has no order of its own and drops empty storage keys, so that equal states are
    /// equal values.
    pub fn normalize(&mut self) {
        self.cookies.sort_by(|a, b| a.key().cmp(&b.key()));
        for origin in self.origins.values_mut() {
            origin.databases.sort_by(|a, b| a.name.cmp(&b.name));
        }
        self.origins.retain(|_, origin| !origin.is_empty());
        for tab in &mut self.tabs {
            tab.session_storage.retain(|_, entries| !entries.is_empty());
        }
    }

    /// The tab in front; the first one when none says so.
    pub fn active_tab(&self) -> Option<&Tab> {
        self.tabs.iter().find(|tab| tab.active).or_else(|| self.tabs.first())
    }
}
