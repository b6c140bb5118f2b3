//! Where the stores of a profile come from: the cache, or they are made.

use crate::profile::compile::{
    CacheKey, CompileError, Kept, ProfileCache, Rows, Store, StoreKey, Times,
};
use baton_session::Receipt;
use baton_session::cookie::Expiry;
use std::path::{Path, PathBuf};

/// Where a store comes from.
pub(super) enum Source {
    Kept(Kept),
    Made(Made),
}

/// A store that was made, in a profile of its own.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) store: Store,
    key: Option<StoreKey>,
    /// When the first of its cookies ends.
    until: Option<Expiry>,
    receipt: Receipt,
}

/// Finds stores, or makes them.
pub(super) struct Sources<'a> {
    pub(super) rows: Rows,
    pub(super) times: Times,
    pub(super) cached: Option<(&'a ProfileCache, CacheKey)>,
    /// What was found before.
    pub(super) local_storage: Option<&'a Kept>,
    /// Where they are made.
    pub(super) folder: &'a Path,
}

impl Sources<'_> {
    pub(super) fn of(&self, store: Store) -> Result<Source, CompileError> {
        let key = self.cached.map(|(_, key)| key.of_store(store));
        let at_hand = self.local_storage.filter(|_| store == Store::LocalStorage).cloned();
        let find = || {
            let (cache, _) = self.cached?;
            cache.find(key?, self.times.now)
        };
        if let Some(kept) = at_hand.or_else(find) {
            return Ok(Source::Kept(kept));
        }
        let (until, receipt) = (self.rows.until(store), self.rows.receipt_of(store));
        let made = Made { store, key, until, receipt };
        self.rows.write(store, &made.place(self.folder))?;
        Ok(Source::Made(made))
    }

    /// A line for each of what is in both stores, and of what could not be.
    pub(super) fn receipt(&self) -> Receipt {
        let mut receipt = self.rows.receipt();
        receipt.extend(self.local_storage.map(|kept| kept.receipt().clone()).unwrap_or_default());
        receipt
    }
}

impl Source {
    pub(super) fn made(self) -> Option<Made> {
        match self {
            Self::Made(made) => Some(made),
            Self::Kept(_) => None,
        }
    }
}

impl Made {
    /// The profile in which it is made.
    pub(super) fn place(&self, folder: &Path) -> PathBuf {
        folder.join(self.store.kind().as_str())
    }

    /// Keeps it in the cache, if it has a key. Blocks on the disk.
    pub(super) fn keep(
        self,
        cache: &ProfileCache,
        folder: &Path,
    ) -> Result<(), crate::profile::ProfileError> {
        let place = self.place(folder);
        self.key.map_or(Ok(()), |key| cache.keep(key, self.until, self.receipt, &place))
    }
}
