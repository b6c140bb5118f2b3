//! Closes a session, with a last snapshot.

use super::drive::{drive, let_go};
use super::show;
use crate::auth::Caller;
use crate::{Context, NodeError, clock, sync};
use baton_api::SessionView;
use baton_session::{Lifecycle, Session};
use baton_store::StoreError;

/// Takes a last snapshot of an active session, ends its browser and frees its name. Snapshots and
/// profile are kept: a closed session can be resumed.
pub async fn close(
    context: &Context,
    caller: &Caller,
    reference: &str,
) -> Result<SessionView, NodeError> {
    let (session, _turn) = context.take_turn(&caller.owner, reference).await?;
    let session = not_closed(session)?;
    drive(context, caller, &session).await?;
    let session = end(context, &session).await?;
    sync::lease::release(context, &caller.owner, session.id).await?;
    tracing::info!(session = %session.id, "closed a session");
    show::describe(context, session).await
}

/// Takes a last snapshot and closes the session; no agent drives it any more. The caller has its turn.
pub(crate) async fn end(context: &Context, session: &Session) -> Result<Session, NodeError> {
    context.hub.close(session.id).await?;
    let closed = finish(context, session).await?;
    let_go(context, &closed).await?;
    Ok(closed)
}

/// The session, unless it is closed already.
pub(super) fn not_closed(session: Session) -> Result<Session, NodeError> {
    if session.lifecycle != Lifecycle::Closed {
        return Ok(session);
    }
    let (name, found) = (session.name, session.lifecycle);
    Err(NodeError::WrongState { name, expected: "active, recoverable, stale or failed", found })
}

/// Moves the row to closed from wherever it stands now: a watcher may notice the end of the browser
/// at the same time and move it as well.
pub(super) async fn finish(context: &Context, session: &Session) -> Result<Session, NodeError> {
    loop {
        let now = context.store.fetch_session(&session.owner, session.id).await?;
        if now.lifecycle == Lifecycle::Closed {
            return Ok(now);
        }
        let (id, from) = (now.id, now.lifecycle);
        match context
            .store
            .update_lifecycle(id, context.node, from, Lifecycle::Closed, clock::now())
            .await
        {
            // A watcher moves an active session once, so this ends.
            Err(StoreError::LifecycleConflict { .. }) => {}
            moved => return Ok(moved?),
        }
    }
}
