//! Lists that are in the memory of a node and not in the database: of tabs that can be looked into, and of sandboxes.
//! Whose list became another one is said to the other nodes.

use baton_session::Owner;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

/// How many lists a message names at most.
pub(super) const MOST_LISTS: usize = 128;

/// A list of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum List {
    /// The tabs that can be looked into.
    Tabs,
    /// The sandboxes.
    Sandboxes,
}

/// An owner on the bus, where names of owners do not stand: eight bytes of the hash of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct OwnerMark(pub(super) u64);

impl OwnerMark {
    /// That of an owner.
    pub(crate) fn of(owner: &Owner) -> Self {
        let hash = Sha256::digest(format!("baton owner\n{owner}"));
        Self(hash[..8].iter().fold(0, |mark, byte| mark << 8 | u64::from(*byte)))
    }
}

/// Whose list changed; none where any may have.
pub(crate) type ListChange = Option<(List, OwnerMark)>;

/// What changes of the lists of this node.
pub(crate) struct OwnLists {
    tabs: broadcast::Receiver<Owner>,
    sandboxes: broadcast::Receiver<Owner>,
}

impl OwnLists {
    /// From now on.
    pub(crate) fn new(
        tabs: broadcast::Receiver<Owner>,
        sandboxes: broadcast::Receiver<Owner>,
    ) -> Self {
        Self { tabs, sandboxes }
    }

    /// Waits for the next change.
    pub(super) async fn next(&mut self) -> ListChange {
        let (list, told) = tokio::select! {
            told = self.tabs.recv() => (List::Tabs, told),
            told = self.sandboxes.recv() => (List::Sandboxes, told),
        };
        match told {
            Ok(owner) => Some((list, OwnerMark::of(&owner))),
            Err(RecvError::Lagged(_)) => None,
            // The node ends.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }

    /// All changes that wait, of which this was the first; none where they are more than a message names.
    pub(super) fn gather(&mut self, first: ListChange) -> Option<Vec<(List, OwnerMark)>> {
        let mut is_whole = first.is_some();
        let mut changed: BTreeSet<_> = first.into_iter().collect();
        self.take(|change| match change {
            Some(change) => _ = changed.insert(change),
            None => is_whole = false,
        });
        (is_whole && changed.len() <= MOST_LISTS).then(|| changed.into_iter().collect())
    }

    /// Leaves out what waits; whether there was something.
    pub(super) fn skip(&mut self) -> bool {
        let mut is_any = false;
        self.take(|_| is_any = true);
        is_any
    }

    fn take(&mut self, mut each: impl FnMut(ListChange)) {
        for (list, told) in [(List::Tabs, &mut self.tabs), (List::Sandboxes, &mut self.sandboxes)] {
            loop {
                match told.try_recv() {
                    Ok(owner) => each(Some((list, OwnerMark::of(&owner)))),
                    Err(TryRecvError::Lagged(_)) => each(None),
                    Err(TryRecvError::Empty | TryRecvError::Closed) => break,
                }
            }
        }
    }
}
