//! A visit: what one page fills, of one storage key.

use super::places;
use baton_session::receipt::{ItemKind, ReceiptItem, Source, Verified};
use baton_session::state::OriginState;
use baton_session::{Database, Entries, Receipt, StorageKey};

/// One storage key, and what it is to be filled with.
#[derive(Debug, Clone)]
pub(super) struct Visit<'a> {
    pub(super) key: StorageKey,
    pub(super) local: Option<&'a Entries>,
    pub(super) databases: &'a [Database],
    /// With caches, files or service workers.
    pub(super) stored: Option<&'a OriginState>,
    pub(super) session: Option<&'a Entries>,
}

impl Visit<'_> {
    /// A visit that fills nothing.
    pub(super) fn new(key: StorageKey) -> Self {
        Self { key, local: None, databases: &[], stored: None, session: None }
    }

    /// Whether there is something that can be lost.
    pub(super) fn has_local(&self) -> bool {
        self.local.is_some_and(|local| !local.is_empty())
    }

    /// The items of a visit that need not happen.
    pub(super) fn held(&self) -> Receipt {
        let key = &self.key;
        let local = self.has_local().then(|| (ItemKind::LocalStorage, key.to_string()));
        let database = |one: &Database| places::database_place(key, &one.name);
        let databases = self.databases.iter().map(|one| (ItemKind::IndexedDb, database(one)));
        let stored = self.stored.map(|origin| places::items(key, origin)).into_iter().flatten();
        of_disk(local.into_iter().chain(databases).chain(stored), Verified::Disk)
    }

    /// Leaves caches, files and workers as the profile has them, and returns their items.
    pub(super) fn leave_stored(&mut self) -> Receipt {
        let left = self.stored.take().map(|origin| places::items(&self.key, origin));
        of_disk(left.into_iter().flatten(), Verified::None)
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
