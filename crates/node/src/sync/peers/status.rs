//! Whether peers answer: what was seen lately, and asked again when that is old.

use super::super::error::SyncError;
use super::super::remote::Remote;
use crate::identity::Identity;
use crate::shell::word;
use crate::sync::context::Sync;
use baton_api::sync::{PeerStatus, PeerView};
use baton_session::NodeId;
use baton_session::peer::PeerState;
use baton_store::Peer;
use futures_util::future::join_all;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long an answer, or that there was none, counts.
const FRESH: Duration = Duration::from_secs(30);
/// How much of a node's id a command names.
const PREFIX: usize = 8;
/// Of how many peers something is remembered.
const MOST: usize = 10_000;

/// What was seen of peers lately. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Statuses(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    seen: HashMap<NodeId, Seen>,
    /// Those that have said that this node is pending there, since they last let it in.
    waiting: HashSet<NodeId>,
}

#[derive(Debug, Clone)]
struct Seen {
    at: Instant,
    /// Why it did not answer; none when it did.
    silent: Option<String>,
    /// Why it takes nothing of this node, although it answers; none when it does, or was not asked.
    refuses: Option<String>,
}

impl Statuses {
    /// Notes that a peer answered.
    pub(crate) fn heard(&self, peer: NodeId) {
        self.note(peer, Seen { at: Instant::now(), silent: None, refuses: None });
    }

    fn note(&self, peer: NodeId, seen: Seen) {
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
    fn is_waiting(&self, peer: NodeId) -> bool {
        self.lock().waiting.contains(&peer)
    }

    /// What was seen lately. A peer that has not let this node in may have done so since.
    fn fresh(&self, peer: NodeId) -> Option<Seen> {
        let known = self.lock();
        let seen = known.seen.get(&peer).filter(|_| !known.waiting.contains(&peer));
        seen.filter(|seen| seen.at.elapsed() < FRESH).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The views of peers; those of which nothing was seen lately are asked, all at once.
pub(super) async fn views(context: &Sync, peers: Vec<Peer>) -> Vec<PeerView> {
    join_all(peers.into_iter().map(|peer| view(context, peer, false))).await
}

/// The view of a peer, which is asked when nothing was seen of it lately and somebody has confirmed
/// it, or when that is wanted `anew`.
pub(super) async fn view(context: &Sync, peer: Peer, anew: bool) -> PeerView {
    let known = context.own.statuses.fresh(peer.node).filter(|_| !anew);
    let seen = match known {
        Some(seen) => Some(seen),
        None if peer.url.is_some() && (anew || peer.state == PeerState::Confirmed) => {
            Some(ask(context, &peer).await)
        }
        None => None,
    };
    shown(context, peer, seen)
}

/// The view of a peer that nobody asks; whether it answers is not known.
pub(crate) fn unasked(context: &Sync, peer: Peer) -> PeerView {
    shown(context, peer, None)
}

fn shown(context: &Sync, peer: Peer, seen: Option<Seen>) -> PeerView {
    let is_waiting = context.own.statuses.is_waiting(peer.node) && peer.credential.is_some();
    let (status, reason) = match seen {
        None => (PeerStatus::Unknown, None),
        Some(Seen { silent: None, refuses, .. }) => (PeerStatus::Online, refuses),
        Some(Seen { silent, .. }) => (PeerStatus::Offline, silent),
    };
    PeerView {
        node_id: peer.node,
        node_type: peer.node_type,
        url: peer.url.as_deref().and_then(|url| url.parse().ok()),
        name: peer.name,
        last_seen: peer.last_seen,
        last_sync: peer.last_sync,
        status,
        reason,
        auth_method: peer.auth,
        state: peer.state,
        fingerprint: peer.key.fingerprint(),
        has_key: peer.credential.is_some(),
        confirm_there: is_waiting.then(|| confirms_there(&context.own.identity.now())),
        limits: peer.limits,
    }
}

/// What a person types where this node is pending: with its fingerprint, so that it is compared there with
/// what is registered.
pub(in crate::sync) fn confirms_there(identity: &Identity) -> String {
    let (node, fingerprint) = (identity.node().to_string(), identity.key().fingerprint());
    let prefix = node.get(..PREFIX).unwrap_or(&node);
    format!("baton peers confirm {prefix} --fingerprint {}", word(&fingerprint.to_string()))
}

/// Asks a peer whether it lives, and is who it was; no key is needed for that, and none is sent. One that is
/// confirmed, and that this node has a key of, is asked whether it lets this node in as well.
async fn ask(context: &Sync, peer: &Peer) -> Seen {
    let asked = async {
        let remote = Remote::of(context, peer).await?;
        remote.health().await?;
        if peer.state == PeerState::Confirmed && peer.credential.is_some() {
            return Ok(remote.greet().await.err().as_ref().and_then(refusal));
        }
        Ok(None)
    };
    let asked: Result<Option<String>, crate::sync::error::SyncError> = asked.await;
    let first_line = |error: crate::sync::error::SyncError| {
        error.to_string().lines().next().unwrap_or_default().to_owned()
    };
    let (silent, refuses) = match asked {
        Ok(refuses) => (None, refuses),
        Err(error) => (Some(first_line(error)), None),
    };
    let seen = Seen { at: Instant::now(), silent, refuses };
    context.own.statuses.note(peer.node, seen.clone());
    seen
}

/// Why a peer that lives takes nothing of this node, and what to do, where it said so: that two clocks are
/// apart, or that what it is shown opens nothing. Older nodes know no greeting, and that nobody has confirmed
/// this node there is told beside it.
fn refusal(error: &crate::sync::error::SyncError) -> Option<String> {
    match error {
        SyncError::Denied { why, .. } if why.contains("clocks") => Some(error.to_string()),
        SyncError::Untrusted { .. }
        | SyncError::NotLetIn { .. }
        | SyncError::NoToken { .. }
        | SyncError::Tunnel { .. } => Some(error.to_string()),
        _ => None,
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
