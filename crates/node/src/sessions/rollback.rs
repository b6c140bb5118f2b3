//! Takes a session back to one of its snapshots.

use super::drive::drive;
use super::show;
use crate::auth::Caller;
use crate::{Context, NodeError, sync};
use baton_api::{ResumeResult, RollBack};

/// Captures the session if it is active, ends its browser, and brings it back from any of its
/// snapshots, also one that a resume would pass over. What it held until now stays in its history.
pub async fn rollback(
    context: &Context,
    caller: &Caller,
    reference: &str,
    request: RollBack,
) -> Result<ResumeResult, NodeError> {
    drive(context, caller, &context.find(&caller.owner, reference).await?).await?;
    let handed = Box::pin(sync::lease::take(context, caller, reference)).await?;
    let (session, _turn) = context.take_turn(&caller.owner, reference).await?;
    let to = context.store.find_snapshot(session.id, &request.to).await?;
    let id = to.id;
    let resumed = context.hub.rollback(&session, to).await?;
    tracing::info!(session = %session.id, to = %id, "rolled a session back");
    Ok(ResumeResult { handed, ..show::resumed(context, &session, resumed).await? })
}
