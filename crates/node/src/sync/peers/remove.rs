//! Removes a peer.

use super::find;
use crate::audit::{Action, Note};
use crate::auth::Caller;
use crate::{Context, NodeError};

/// Forgets a peer, its key and what opens it. Sessions that came from it stay; it counts as having
/// heard of every deletion.
pub async fn remove(context: &Context, caller: &Caller, reference: &str) -> Result<(), NodeError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::RemovePeer, reference);
    let removed = async {
        let peer = find(context, &caller.owner, reference).await?;
        Ok(context.store.delete_peer(&caller.owner, peer.node).await?)
    };
    note.end(&context.store, removed.await).await?;
    context.watches.peers_changed();
    Ok(())
}
