//! Ends a session: its browser, its row, and what agents and peers know of it.

use super::driver::let_go;
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::table::Hold;
use baton_session::{Lifecycle, Session};
use baton_store::StoreError;
use baton_store::clock;

/// Takes a last snapshot and closes the session; no agent drives it any more.
pub async fn end(
    context: &Runtime,
    hold: &Hold,
    session: &Session,
) -> Result<Session, RuntimeError> {
    context.hub.close(hold).await?;
    let closed = finish(context, session).await?;
    let_go(context, &closed).await?;
    Ok(closed)
}

/// Moves the row to closed from wherever it stands now: a watcher may notice the end of the browser
/// at the same time and move it as well.
pub(crate) async fn finish(context: &Runtime, session: &Session) -> Result<Session, RuntimeError> {
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
