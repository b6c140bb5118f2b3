//! Deletes a session and everything that is kept of it.

use super::drive::drive;
use crate::auth::Caller;
use crate::{Context, NodeError, sync};
use baton_session::Lifecycle;
use baton_store::StoreError;

/// Removes the snapshots, receipts and profile of a session that is not active. The files go
/// first: when the node dies in between, the row is still there to be deleted again.
pub async fn delete(context: &Context, caller: &Caller, reference: &str) -> Result<(), NodeError> {
    let owner = &caller.owner;
    let (session, _turn) = context.take_turn(owner, reference).await?;
    drive(context, caller, &session).await?;
    if session.lifecycle == Lifecycle::Active {
        let (name, found) = (session.name, session.lifecycle);
        return Err(NodeError::WrongState { name, expected: "closed or abandoned first", found });
    }
    context.hub.delete_files(session.id).await?;
    // One that was saved is deleted at its peers as well, as soon as they hear of it.
    sync::bury(context, owner, session.id).await?;
    match context.store.delete_session(owner, session.id).await {
        Err(StoreError::SessionNotFound { .. }) | Ok(()) => {}
        Err(error) => return Err(error.into()),
    }
    // Sealed as they are, nobody needs the parts any more; the next pruning would find them as well.
    if let Err(error) = context.store.collect_parts().await {
        tracing::warn!(%error, "parts of a deleted session were not removed");
    }
    tracing::info!(session = %session.id, "deleted a session");
    Ok(())
}
