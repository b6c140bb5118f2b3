//! What peers were given lately, so that it is not made or noted once more: what a peer with a part of a
//! session was shown, the movements that are noted, and the index that was made last.

use baton_api::sync::SyncIndex;
use baton_session::revision::PartList;
use baton_session::{NodeId, Owner, PartHash, RevisionId, SessionId, Signed, View};
use baton_store::{Generation, PackedPart, Peer};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::{Mutex as NotingMutex, MutexGuard};

/// How many bytes of parts that were made are remembered.
const MADE_MAX: u64 = 64 << 20;
/// Of how many revisions it is remembered what a peer sees of them.
const SEEN_MAX: usize = 1024;

/// What a peer sees of a revision.
#[derive(Debug)]
pub(crate) struct SeenRevision {
    /// The revision that says it.
    pub(crate) signed: Signed,
    /// Of which parts it is made.
    pub(crate) list: PartList,
    /// Those that are no parts of the whole.
    pub(crate) made: HashMap<PartHash, PackedPart>,
    /// Whether there is anything in it.
    pub(crate) is_empty: bool,
}

impl SeenRevision {
    fn bytes(&self) -> u64 {
        self.made.values().map(|part| part.packed.len() as u64).sum()
    }
}

/// Of what something is seen, and by whom.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct GivenKey {
    pub(crate) owner: Owner,
    pub(crate) revision: RevisionId,
    pub(crate) view: View,
    pub(crate) conflicts: Vec<RevisionId>,
}

/// What was shown last.
#[derive(Debug, Default)]
pub struct ShownLately(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    seen: HashMap<GivenKey, Arc<SeenRevision>>,
    /// From the oldest to the newest.
    order: VecDeque<GivenKey>,
    bytes: u64,
}

impl ShownLately {
    pub(crate) fn get(&self, key: &GivenKey) -> Option<Arc<SeenRevision>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).seen.get(key).cloned()
    }

    pub(crate) fn insert(&self, key: GivenKey, seen: &Arc<SeenRevision>) {
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

/// Which session goes to whom.
pub(crate) type Movement = (Owner, NodeId, SessionId);

/// The movements that are noted. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Given(Arc<NotingMutex<HashMap<Movement, Instant>>>);

impl Given {
    /// A movement of a session to a peer begins: what it is given from here on is noted anew.
    pub async fn start_movement(&self, peer: &Peer, session: SessionId) {
        self.0.lock().await.remove(&movement(peer, session));
    }

    /// When each was noted. The holder of this guard notes alone.
    pub(crate) async fn noted(&self) -> MutexGuard<'_, HashMap<Movement, Instant>> {
        self.0.lock().await
    }
}

/// The movement of a session to a peer.
pub(crate) fn movement(peer: &Peer, session: SessionId) -> Movement {
    (peer.owner.clone(), peer.node, session)
}

/// Of how many owners the index is remembered.
const OWNERS_MAX: usize = 16;

/// The indexes that were made last.
#[derive(Default)]
pub struct IndexCache(Mutex<HashMap<Owner, (Generation, Arc<SyncIndex>)>>);

impl IndexCache {
    /// That of an owner, if it is the newest.
    pub(crate) fn get(&self, owner: &Owner, newest: Generation) -> Option<Arc<SyncIndex>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (generation, index) = known.get(owner)?;
        (*generation == newest).then(|| Arc::clone(index))
    }

    /// Remembers it.
    pub(crate) fn insert(&self, owner: &Owner, generation: Generation, index: &Arc<SyncIndex>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= OWNERS_MAX && !known.contains_key(owner) {
            known.clear();
        }
        known.insert(owner.clone(), (generation, Arc::clone(index)));
    }
}
