//! Whether peers answer: what was seen lately, and asked again when that is old.

use super::super::error::SyncError;
use super::super::remote::Remote;
use super::seen::Seen;
use crate::context::Sync;
use crate::identity::Identity;
use baton_api::sync::{PeerStatus, PeerView};
use baton_runtime::shell::word;
use baton_session::peer::PeerState;
use baton_store::Peer;
use futures_util::future::join_all;
use std::time::Instant;

/// How much of a node's id a command names.
const PREFIX: usize = 8;

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
pub(crate) fn confirms_there(identity: &Identity) -> String {
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
    let asked: Result<Option<String>, crate::error::SyncError> = asked.await;
    let first_line = |error: crate::error::SyncError| {
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
fn refusal(error: &crate::error::SyncError) -> Option<String> {
    match error {
        SyncError::Denied { why, .. } if why.contains("clocks") => Some(error.to_string()),
        SyncError::Untrusted { .. }
        | SyncError::NotLetIn { .. }
        | SyncError::NoToken { .. }
        | SyncError::Tunnel { .. } => Some(error.to_string()),
        _ => None,
    }
}
