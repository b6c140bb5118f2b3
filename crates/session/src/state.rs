//! A state: everything that a browser held at one instant.

use crate::cache::Cache;
use crate::cookie::Cookie;
use crate::database::Database;
use crate::environment::Environment;
use crate::file::FileEntry;
use crate::registration::Registration;
use crate::storage::{Entries, StorageKey};
use crate::tab::Tab;
use crate::text::Text;
use crate::{certificate, cookie, permission};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Everything that a browser held at one instant.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct State {
    /// Every cookie of the default context, those of a site in the [order](cookie::order) in which they
    /// are sent.
    pub cookies: Vec<Cookie>,
    /// What each storage key holds.
    pub origins: BTreeMap<StorageKey, OriginState>,
    /// Tabs in the order of the window.
    pub tabs: Vec<Tab>,
    /// Viewport, user agent, time zone, locale, geolocation, permissions, certificates.
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
    /// Cache Storage: caches by position.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub caches: Vec<Cache>,
    /// The origin private file system, by path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileEntry>,
    /// Service worker registrations by scope.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub service_workers: Vec<Registration>,
    /// The browser's own folders of IndexedDB, byte by byte: only in what was exported as deep as can
    /// be, because they hold keys that a site marked as not extractable.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub raw: Vec<FileEntry>,
}

impl OriginState {
    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.local_storage.is_empty()
            && self.databases.is_empty()
            && self.caches.is_empty()
            && self.files.is_empty()
            && self.service_workers.is_empty()
            && self.raw.is_empty()
    }

    /// The database with this name.
    pub fn database(&self, name: &Text) -> Option<&Database> {
        self.databases.iter().find(|database| &database.name == name)
    }

    /// The same in its order: itself, when it is.
    pub(crate) fn normal(&self) -> Cow<'_, Self> {
        if self.is_normal() {
            return Cow::Borrowed(self);
        }
        let mut normal = self.clone();
        normal.normalize();
        Cow::Owned(normal)
    }

    /// Whether [`normalize`](Self::normalize) would change nothing.
    fn is_normal(&self) -> bool {
        let scripts = |one: &Registration| one.scripts.is_sorted_by(|a, b| a.url <= b.url);
        self.databases.is_sorted_by(|a, b| a.name <= b.name)
            && self.caches.is_sorted_by(|a, b| (a.position, &a.name) <= (b.position, &b.name))
            && self.files.is_sorted_by(|a, b| a.path <= b.path)
            && self.raw.is_sorted_by(|a, b| a.path <= b.path)
            && self.service_workers.is_sorted_by(|a, b| a.scope <= b.scope)
            && self.service_workers.iter().all(scripts)
    }

    pub(crate) fn normalize(&mut self) {
        self.databases.sort_by(|a, b| a.name.cmp(&b.name));
        self.caches.sort_by(|a, b| (a.position, &a.name).cmp(&(b.position, &b.name)));
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.raw.sort_by(|a, b| a.path.cmp(&b.path));
        self.service_workers.sort_by(|a, b| a.scope.cmp(&b.scope));
        for registration in &mut self.service_workers {
            registration.scripts.sort_by(|a, b| a.url.cmp(&b.url));
        }
    }
}

impl State {
    /// Sorts what has no order of its own, and cookies as they are sent, and drops empty storage keys, so that equal states are
    /// equal values.
    pub fn normalize(&mut self) {
        cookie::order(&mut self.cookies);
        self.origins.values_mut().for_each(OriginState::normalize);
        self.origins.retain(|_, origin| !origin.is_empty());
        for tab in &mut self.tabs {
            tab.session_storage.retain(|_, entries| !entries.is_empty());
        }
        permission::normalize(&mut self.environment.permissions);
        certificate::normalize(&mut self.environment.certificates);
    }

    /// The tab in front; the first one when none says so.
    pub fn active_tab(&self) -> Option<&Tab> {
        self.tabs.iter().find(|tab| tab.active).or_else(|| self.tabs.first())
    }
}
