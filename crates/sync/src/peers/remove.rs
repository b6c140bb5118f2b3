//! Removes a peer.

use super::{find, shown};
use crate::context::Sync;
use crate::error::SyncError;
use baton_runtime::Caller;
use baton_runtime::audit::{Action, Note};

/// Forgets a peer, its key and what opens it. Sessions that came from it stay; it counts as having
/// heard of every deletion. The API key that a limited peer shows is revoked, because without the peer it
/// would open everything.
pub async fn remove(context: &Sync, caller: &Caller, reference: &str) -> Result<(), SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::RemovePeer, reference);
    let removed = async {
        let peer = find(context, &caller.owner, reference).await?;
        shown::shut_out(context, caller, &peer).await?;
        Ok::<_, SyncError>(context.store.delete_peer(&caller.owner, peer.node).await?)
    };
    note.end(&context.store, removed.await).await?;
    context.own.watches.peers_changed();
    Ok(())
}
