//! Takes a session back to one of its snapshots.

use super::show;
use crate::{Context, NodeError};
use baton_api::{ResumeResult, RollBack};
use baton_session::Owner;

/// Captures the session if it is active, ends its browser, and brings it back from any of its
/// snapshots, also one that a resume would pass over. What it held until now stays in its history.
pub async fn rollback(
    context: &Context,
    owner: &Owner,
    reference: &str,
    request: RollBack,
) -> Result<ResumeResult, NodeError> {
    let (session, _turn) = context.take_turn(owner, reference).await?;
    let to = context.store.find_snapshot(session.id, &request.to).await?;
    let id = to.id;
    let resumed = context.hub.rollback(&session, to).await?;
    tracing::info!(session = %session.id, to = %id, "rolled a session back");
    show::resumed(context, &session, resumed).await
}
