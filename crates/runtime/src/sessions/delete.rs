//! Deletes a session and everything that is kept of it.

use crate::error::RuntimeError;
use crate::life::{Delete, Wish};
use baton_store::StoreError;

/// Removes the snapshots, receipts and profile of a session that is not active. The files go
/// first: when the node dies in between, the row is still there to be deleted again.
pub async fn delete(wish: &Wish<'_>) -> Result<(), RuntimeError> {
    let context = wish.context;
    let held = wish.preflight(Delete).await?.hold().await?;
    let (owner, session) = (&held.session.owner, held.session.id);
    context.hub.delete_files(&held.hold).await?;
    // One that was saved is deleted at its peers as well, as soon as they hear of it.
    context.peers.bury(context, owner, &held.hold).await?;
    match context.store.delete_session(owner, session).await {
        Err(StoreError::SessionNotFound { .. }) | Ok(()) => {}
        Err(error) => return Err(error.into()),
    }
    // Sealed as they are, nobody needs the parts any more; the next pruning would find them as well.
    if let Err(error) = context.store.collect_parts_of(owner).await {
        tracing::warn!(%error, "parts of a deleted session were not removed");
    }
    tracing::info!(%session, "deleted a session");
    Ok(())
}
