//! Brings a session back.

use super::show;
use crate::{Context, NodeError, sync};
use baton_api::ResumeResult;
use baton_session::{Lifecycle, Owner};

/// Starts a browser for a session that has none and restores its last good snapshot into it. The
/// receipt says item by item what came back.
pub async fn resume(
    context: &Context,
    owner: &Owner,
    reference: &str,
) -> Result<ResumeResult, NodeError> {
    let (session, _turn) = context.take_turn_here(owner, reference).await?;
    if session.lifecycle == Lifecycle::Active {
        let (name, found) = (session.name, session.lifecycle);
        let expected = "recoverable, stale, failed or closed";
        return Err(NodeError::WrongState { name, expected, found });
    }
    // What another node saved since is what comes back; what was captured here is kept beside it.
    sync::settle(context, &session).await?;
    let resumed = context.hub.resume(&session).await?;
    tracing::info!(session = %session.id, snapshot = %resumed.snapshot, "resumed a session");
    show::resumed(context, &session, resumed).await
}
