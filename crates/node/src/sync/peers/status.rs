//! Whether peers answer: what was seen lately, and asked again when that is old.

use super::super::remote::Remote;
use crate::{Context, clock};
use baton_api::sync::{PeerStatus, PeerView};
use baton_session::NodeId;
use baton_session::peer::PeerState;
use baton_store::Peer;
use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How long an answer, or that there was none, counts.
const FRESH: SignedDuration = SignedDuration::from_secs(30);
/// Of how many peers something is remembered.
const MOST: usize = 10_000;

/// What was seen of peers lately. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Statuses(Arc<Mutex<HashMap<NodeId, Seen>>>);

#[derive(Debug, Clone)]
struct Seen {
    at: Timestamp,
    /// Why it did not answer; none when it did.
    silent: Option<String>,
}

impl Statuses {
    /// Notes that a peer answered.
    pub(crate) fn heard(&self, peer: NodeId, at: Timestamp) {
        self.note(peer, Seen { at, silent: None });
    }

    fn note(&self, peer: NodeId, seen: Seen) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST && !known.contains_key(&peer) {
            known.clear();
        }
        known.insert(peer, seen);
    }

    fn fresh(&self, peer: NodeId, now: Timestamp) -> Option<Seen> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&peer).filter(|seen| now.duration_since(seen.at) < FRESH).cloned()
    }
}

/// The views of peers; those of which nothing was seen lately are asked, all at once.
pub(super) async fn views(context: &Context, peers: Vec<Peer>) -> Vec<PeerView> {
    join_all(peers.into_iter().map(|peer| view(context, peer, false))).await
}

/// The view of a peer, which is asked when nothing was seen of it lately and somebody has confirmed
/// it, or when that is wanted `anew`.
pub(super) async fn view(context: &Context, peer: Peer, anew: bool) -> PeerView {
    let now = clock::now();
    let known = context.statuses.fresh(peer.node, now).filter(|_| !anew);
    let seen = match known {
        Some(seen) => Some(seen),
        None if peer.url.is_some() && (anew || peer.state == PeerState::Confirmed) => {
            Some(ask(context, &peer).await)
        }
        None => None,
    };
    shown(peer, seen)
}

/// The view of a peer that nobody asks; whether it answers is not known.
pub(crate) fn unasked(peer: Peer) -> PeerView {
    shown(peer, None)
}

fn shown(peer: Peer, seen: Option<Seen>) -> PeerView {
    let (status, reason) = match seen {
        None => (PeerStatus::Unknown, None),
        Some(Seen { silent: None, .. }) => (PeerStatus::Online, None),
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
        limits: peer.limits,
    }
}

/// Asks a peer whether it lives, and is who it was. No key is needed for that, and none is sent.
async fn ask(context: &Context, peer: &Peer) -> Seen {
    let asked = match Remote::of(context, peer).await {
        Ok(remote) => remote.health().await,
        Err(error) => Err(error),
    };
    let first_line =
        |error: crate::NodeError| error.to_string().lines().next().unwrap_or_default().to_owned();
    let seen = Seen { at: clock::now(), silent: asked.err().map(first_line) };
    context.statuses.note(peer.node, seen.clone());
    seen
}
