//! What peers said lately: whether they answer, and what those say now that a client follows.

use baton_api::Problem;
use baton_api::sync::SyncIndex;
use baton_session::{NodeId, Owner};
use baton_store::Peer;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::DropGuard;

/// How long an answer, or that there was none, counts.
const FRESH: Duration = Duration::from_secs(30);
/// Of how many peers something is remembered.
const MOST: usize = 10_000;

/// What was seen of peers lately. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Statuses(Arc<Mutex<KnownPeers>>);

#[derive(Debug, Default)]
struct KnownPeers {
    seen: HashMap<NodeId, LastSeen>,
    /// Those that have said that this node is pending there, since they last let it in.
    waiting: HashSet<NodeId>,
}

/// What was seen of a peer, and when.
#[derive(Debug, Clone)]
pub(crate) struct LastSeen {
    pub(crate) at: Instant,
    /// Why it did not answer; none when it did.
    pub(crate) silent: Option<String>,
    /// Why it takes nothing of this node, although it answers; none when it does, or was not asked.
    pub(crate) refuses: Option<String>,
}

impl Statuses {
    /// Notes that a peer answered.
    pub(crate) fn heard(&self, peer: NodeId) {
        self.note(peer, LastSeen { at: Instant::now(), silent: None, refuses: None });
    }

    /// Notes what was seen of a peer.
    pub(crate) fn note(&self, peer: NodeId, seen: LastSeen) {
        let known = &mut self.lock().seen;
        if known.len() >= MOST && !known.contains_key(&peer) {
            known.clear();
        }
        known.insert(peer, seen);
    }

    /// Notes whether a peer has said that this node is pending there.
    pub(crate) fn waits(&self, peer: NodeId, is_pending: bool) {
        let waiting = &mut self.lock().waiting;
        if !is_pending {
            waiting.remove(&peer);
        } else if waiting.len() < MOST {
            waiting.insert(peer);
        }
    }

    /// Whether this node is pending at a peer, as far as that is known.
    pub(crate) fn is_waiting(&self, peer: NodeId) -> bool {
        self.lock().waiting.contains(&peer)
    }

    /// What was seen lately. A peer that has not let this node in may have done so since.
    pub(crate) fn fresh(&self, peer: NodeId) -> Option<LastSeen> {
        let known = self.lock();
        let seen = known.seen.get(&peer).filter(|_| !known.waiting.contains(&peer));
        seen.filter(|seen| seen.at.elapsed() < FRESH).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, KnownPeers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The peers that are watched. Cheap to clone.
#[derive(Clone, Default)]
pub struct Watches(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// Wakes tasks that wait for another peer, or for another word on one.
    peers: watch::Sender<()>,
    /// Wakes tasks that wait for what a watched peer says.
    news: watch::Sender<()>,
    /// Those that a client follows; its task holds them.
    watched: Mutex<HashMap<(Owner, NodeId), Weak<Watched>>>,
}

impl Watches {
    /// Tells that a peer came, went or is given something else.
    pub(crate) fn peers_changed(&self) {
        self.0.peers.send_replace(());
    }

    /// Whoever waits for it hears of that from now on.
    pub(crate) fn peers(&self) -> watch::Receiver<()> {
        self.0.peers.subscribe()
    }

    /// Tells that a watched peer said something else.
    pub(crate) fn tell(&self) {
        self.0.news.send_replace(());
    }

    /// Whoever waits for it hears of that from now on.
    pub(crate) fn news(&self) -> watch::Receiver<()> {
        self.0.news.subscribe()
    }

    /// A peer that is watched from now on, for as long as what is returned is held; `begin` begins it.
    pub(crate) fn watch(&self, peer: &Peer, begin: impl FnOnce() -> Arc<Watched>) -> Arc<Watched> {
        let mut watched = self.watched();
        watched.retain(|_, one| one.strong_count() > 0);
        let place = (peer.owner.clone(), peer.node);
        if let Some(one) = watched.get(&place).and_then(Weak::upgrade) {
            return one;
        }
        let one = begin();
        watched.insert(place, Arc::downgrade(&one));
        one
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<(Owner, NodeId), Weak<Watched>>> {
        self.0.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a peer said last: its index, or why there is none.
pub(crate) type IndexAnswer = Result<Arc<SyncIndex>, Problem>;

/// A peer that is watched until this is dropped.
pub(crate) struct Watched {
    pub(crate) node: NodeId,
    said: Arc<Mutex<Option<IndexAnswer>>>,
    _until: DropGuard,
}

impl Watched {
    /// A peer whose words are written there, by a task that writes until `until` is dropped.
    pub(crate) fn new(
        node: NodeId,
        said: Arc<Mutex<Option<IndexAnswer>>>,
        until: DropGuard,
    ) -> Arc<Self> {
        Arc::new(Self { node, said, _until: until })
    }

    /// What it said last; none before its first answer.
    pub(crate) fn said(&self) -> Option<IndexAnswer> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_of_a_peer_is_old_after_half_a_minute_by_a_clock_that_nobody_sets() {
        let (statuses, now) = (Statuses::default(), Instant::now());
        let peer: NodeId = "01890000-0000-7000-8000-000000000001".parse().unwrap();
        let seen_ago =
            |ago| LastSeen { at: now.checked_sub(ago).unwrap(), silent: None, refuses: None };
        statuses.note(peer, seen_ago(FRESH));
        assert!(statuses.fresh(peer).is_none());
        statuses.note(peer, seen_ago(FRESH / 2));
        assert!(statuses.fresh(peer).is_some());
        // Where it has not let this node in, it may have done so since.
        statuses.waits(peer, true);
        assert!(statuses.fresh(peer).is_none());
    }
}
