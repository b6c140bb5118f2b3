//! A visit, what one page fills of one storage key: which addresses and keys are ours to fill, and how
//! a receipt names it.

use baton_session::receipt::{ItemKind, ReceiptItem, Source, Verified};
use baton_session::state::OriginState;
use baton_session::{Database, Entries, PartHash, Receipt, StorageKey, Text};
use std::collections::BTreeSet;
use url::Url;

/// What a profile has exactly as a snapshot of what only pages make, because it was made of the same.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Made {
    /// Databases, by key and name.
    pub databases: BTreeSet<(StorageKey, Text)>,
    /// Keys of which it has all caches, files and workers.
    pub stored: BTreeSet<StorageKey>,
}

/// One storage key, and what it is to be filled with.
#[derive(Debug, Clone)]
pub(super) struct FillVisit<'a> {
    pub(super) key: StorageKey,
    pub(super) local: Option<&'a Entries>,
    pub(super) databases: Vec<&'a Database>,
    /// With caches, files or service workers.
    pub(super) stored: Option<&'a OriginState>,
    pub(super) session: Option<&'a Entries>,
}

impl FillVisit<'_> {
    /// A visit that fills nothing.
    pub(super) fn new(key: StorageKey) -> Self {
        Self { key, local: None, databases: Vec::new(), stored: None, session: None }
    }

    /// Whether there is something that can be lost.
    pub(super) fn has_local(&self) -> bool {
        self.local.is_some_and(|local| !local.is_empty())
    }

    /// The items of a visit that need not happen.
    pub(super) fn held(&self) -> Receipt {
        let key = &self.key;
        let local = self.has_local().then(|| (ItemKind::LocalStorage, key.to_string()));
        let database = |one: &Database| key.place_of(&one.name);
        let databases = self.databases.iter().map(|one| (ItemKind::IndexedDb, database(one)));
        let stored = self.stored.map(|origin| items(key, origin)).into_iter().flatten();
        of_disk(local.into_iter().chain(databases).chain(stored), Verified::Disk)
    }

    /// Leaves caches, files and workers as the profile has them, and returns their items.
    pub(super) fn leave_stored(&mut self) -> Receipt {
        let left = self.stored.take().map(|origin| items(&self.key, origin));
        of_disk(left.into_iter().flatten(), Verified::None)
    }

    /// Leaves the databases, caches, files and workers as the profile has them that were made of the same, and
    /// returns their items.
    pub(super) fn leave_made(&mut self, made: &Made) -> Receipt {
        let is_made = |database: &&mut &Database| {
            made.databases.contains(&(self.key.clone(), database.name.clone()))
        };
        let databases = self.databases.extract_if(.., |database| is_made(&database)).collect();
        let stored = self.stored.take_if(|_| made.stored.contains(&self.key));
        Self { databases, stored, ..FillVisit::new(self.key.clone()) }.held()
    }

    /// Whether there is nothing to fill.
    pub(super) fn is_empty(&self) -> bool {
        let has_web_storage = self.local.is_some() || self.session.is_some();
        !has_web_storage && self.databases.is_empty() && self.stored.is_none()
    }

    /// The kinds that the visit fills, for its receipt.
    pub(super) fn areas(&self) -> impl Iterator<Item = ItemKind> {
        let local = self.local.map(|_| ItemKind::LocalStorage);
        let session = self.session.map(|_| ItemKind::SessionStorage);
        local.into_iter().chain(session)
    }
}

/// Items that the profile has.
fn of_disk(items: impl Iterator<Item = (ItemKind, String)>, verified: Verified) -> Receipt {
    let mut receipt = Receipt::default();
    for (kind, place) in items {
        let source = Source::Disk;
        receipt.push(ReceiptItem { source, verified, ..ReceiptItem::restored(kind, place) });
    }
    receipt
}

/// The first-party storage key of a page at this address.
pub(super) fn own_key(url: &str) -> Option<StorageKey> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    Some(StorageKey::first_party(&url.origin().ascii_serialization()))
}

/// An address of ours at which a document of `key`, or one that embeds it, can stand: another one
/// for each key, because several can be embedded by one site.
pub(super) fn blank_address(key: &StorageKey) -> String {
    let host = key.top_level_site().unwrap_or(key.origin());
    format!("{host}/.baton/{}", PartHash::of(key.as_str().as_bytes()))
}

/// Whether a tab at `url` shows the key as its own.
pub(super) fn is_own(url: &str, key: &StorageKey) -> bool {
    own_key(url).as_ref() == Some(key)
}

/// The caches, files and registrations of a key, as a receipt names them.
pub(super) fn items(key: &StorageKey, origin: &OriginState) -> Vec<(ItemKind, String)> {
    let mut items = Vec::new();
    for registration in &origin.service_workers {
        items.push((ItemKind::ServiceWorker, registration.place(key)));
    }
    for cache in &origin.caches {
        items.push((ItemKind::Cache, key.place_of(&cache.name)));
    }
    if !origin.files.is_empty() {
        items.push((ItemKind::Files, key.to_string()));
    }
    items
}
