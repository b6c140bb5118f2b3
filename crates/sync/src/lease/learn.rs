//! What a peer tells of its lease, and what follows for a browser that runs here.

use super::give::give_up;
use super::note::{holder_elsewhere, is_run_here, record};
use crate::context::Sync;
use crate::error::SyncError;
use crate::shelf::Shelf;
use baton_session::{Lease, NodeId, Owner, SessionId};

/// Takes note of a lease that the peer `of` says it has. When it counts more than ours, our browser
/// ends by and by, with a last revision. Returns whether that is so.
pub(crate) async fn learn(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    of: NodeId,
    told: Option<Lease>,
) -> Result<bool, SyncError> {
    let Some(told) = told.filter(|told| told.node == of && of != context.node) else {
        return Ok(false);
    };
    record(context, owner, session, told).await?;
    let shelf = Shelf::take(context, owner, session).await?;
    let is_theirs = holder_elsewhere(context, shelf.shared.lease).await? == Some(of);
    let is_taken = is_theirs && is_run_here(context, owner, session).await?;
    if is_taken {
        let (context, owner) = (context.clone(), owner.clone());
        context.clone().tasks.spawn(async move {
            if let Err(error) = give_up(&context, &owner, session).await {
                tracing::warn!(%session, %error, "a session that another node took runs on");
            }
        });
    }
    Ok(is_taken)
}
