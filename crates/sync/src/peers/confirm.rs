//! Confirms who a peer is.

use super::super::error::SyncError;
use super::{find, status};
use crate::context::Sync;
use baton_api::sync::{ConfirmPeer, PeerView};
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};

/// Confirms a peer: the caller has compared its fingerprint with what the other node shows. From now
/// on it may be given what logs in.
pub async fn confirm(
    context: &Sync,
    caller: &Caller,
    reference: &str,
    request: ConfirmPeer,
) -> Result<PeerView, SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::ConfirmPeer, reference);
    let note = note.with("fingerprint", request.fingerprint.to_string());
    let confirmed = async {
        let peer = find(context, &caller.owner, reference).await?;
        let found = peer.key.fingerprint();
        if found != request.fingerprint {
            let (expected, found) = (request.fingerprint.to_string(), found.to_string());
            return Err(SyncError::OtherFingerprint { expected, found });
        }
        context.store.confirm_peer(&caller.owner, peer.node).await?;
        find(context, &caller.owner, &peer.node.to_string()).await
    };
    let peer = note.end(&context.store, confirmed.await).await?;
    context.own.watches.peers_changed();
    Ok(status::view(context, peer, false).await)
}
