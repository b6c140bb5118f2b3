//! Brings a session back.

use super::drive::drive;
use super::show;
use crate::auth::Caller;
use crate::live::{LiveError, Resumed};
use crate::{Context, NodeError, sync};
use baton_api::ResumeResult;
use baton_session::{Lifecycle, Session};

/// Starts a browser for a session that has none and restores its last good snapshot into it. The
/// receipt says item by item what came back. One that several nodes have is taken from its holder first.
pub async fn resume(
    context: &Context,
    caller: &Caller,
    reference: &str,
) -> Result<ResumeResult, NodeError> {
    drive(context, caller, &context.find(&caller.owner, reference).await?).await?;
    let handed = Box::pin(sync::lease::take(context, caller, reference)).await?;
    let (session, _turn) = context.take_turn_here(&caller.owner, reference).await?;
    if let Some(sandbox) = context.hub.borrower(session.id) {
        return Err(LiveError::Lent { id: session.id, sandbox }.into());
    }
    if session.lifecycle == Lifecycle::Active {
        let (name, found) = (session.name, session.lifecycle);
        let expected = "recoverable, stale, failed or closed";
        return Err(NodeError::WrongState { name, expected, found });
    }
    let resumed = start(context, &session).await;
    if resumed.is_err() {
        sync::lease::release(context, &session.owner, session.id).await?;
    }
    let resumed = resumed?;
    tracing::info!(session = %session.id, snapshot = %resumed.snapshot, "resumed a session");
    Ok(ResumeResult { handed, ..show::resumed(context, &session, resumed).await? })
}

async fn start(context: &Context, session: &Session) -> Result<Resumed, NodeError> {
    // What another node saved since is what comes back; what was captured here is kept beside it.
    sync::settle(context, session).await?;
    Ok(context.hub.resume(session).await?)
}
