//! Remembers for a while what somebody was shown.

use super::SeenRevision;
use baton_session::{Owner, RevisionId, View};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// How many bytes of parts that were made are remembered.
const MADE_MAX: u64 = 64 << 20;
/// Of how many revisions it is remembered what somebody sees of them.
const SEEN_MAX: usize = 1024;

/// Of what something is seen, and by whom.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) owner: Owner,
    pub(super) revision: RevisionId,
    pub(super) view: View,
    pub(super) conflicts: Vec<RevisionId>,
}

/// What was shown last.
#[derive(Debug, Default)]
pub struct Looks(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    seen: HashMap<Key, Arc<SeenRevision>>,
    /// From the oldest to the newest.
    order: VecDeque<Key>,
    bytes: u64,
}

impl Looks {
    pub(super) fn get(&self, key: &Key) -> Option<Arc<SeenRevision>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).seen.get(key).cloned()
    }

    pub(super) fn put(&self, key: Key, seen: &Arc<SeenRevision>) {
        if seen.bytes() > MADE_MAX {
            return;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.seen.insert(key.clone(), Arc::clone(seen)).is_some() {
            return;
        }
        kept.order.push_back(key);
        kept.bytes += seen.bytes();
        while kept.order.len() > SEEN_MAX || kept.bytes > MADE_MAX {
            let Some(oldest) = kept.order.pop_front() else { return };
            let gone = kept.seen.remove(&oldest).map_or(0, |gone| gone.bytes());
            kept.bytes = kept.bytes.saturating_sub(gone);
        }
    }
}
