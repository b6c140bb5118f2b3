//! What was seen of peers lately.

use baton_session::NodeId;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long an answer, or that there was none, counts.
const FRESH: Duration = Duration::from_secs(30);
/// Of how many peers something is remembered.
const MOST: usize = 10_000;

/// What was seen of peers lately. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Statuses(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    seen: HashMap<NodeId, Seen>,
    /// Those that have said that this node is pending there, since they last let it in.
    waiting: HashSet<NodeId>,
}

/// What was seen of a peer, and when.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) at: Instant,
    /// Why it did not answer; none when it did.
    pub(super) silent: Option<String>,
    /// Why it takes nothing of this node, although it answers; none when it does, or was not asked.
    pub(super) refuses: Option<String>,
}

impl Statuses {
    /// Notes that a peer answered.
    pub(crate) fn heard(&self, peer: NodeId) {
        self.note(peer, Seen { at: Instant::now(), silent: None, refuses: None });
    }

    /// Notes what was seen of a peer.
    pub(super) fn note(&self, peer: NodeId, seen: Seen) {
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
    pub(super) fn is_waiting(&self, peer: NodeId) -> bool {
        self.lock().waiting.contains(&peer)
    }

    /// What was seen lately. A peer that has not let this node in may have done so since.
    pub(super) fn fresh(&self, peer: NodeId) -> Option<Seen> {
        let known = self.lock();
        let seen = known.seen.get(&peer).filter(|_| !known.waiting.contains(&peer));
        seen.filter(|seen| seen.at.elapsed() < FRESH).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
            |ago| Seen { at: now.checked_sub(ago).unwrap(), silent: None, refuses: None };
        statuses.note(peer, seen_ago(FRESH));
        assert!(statuses.fresh(peer).is_none());
        statuses.note(peer, seen_ago(FRESH / 2));
        assert!(statuses.fresh(peer).is_some());
        // Where it has not let this node in, it may have done so since.
        statuses.waits(peer, true);
        assert!(statuses.fresh(peer).is_none());
    }
}
