//! Closes a session, with a last snapshot.

use super::show;
use crate::error::RuntimeError;
use crate::life::{self, Close, Wish};
use baton_api::SessionView;

/// Takes a last snapshot of an active session, ends its browser and frees its name. Snapshots and
/// profile are kept: a closed session can be resumed.
pub async fn close(wish: &Wish<'_>) -> Result<SessionView, RuntimeError> {
    let held = wish.preflight(Close).await?.hold().await?;
    let session = life::end(wish.context, &held.hold, &held.session).await?;
    life::give_back_to_peers(wish.context, &session.owner, session.id).await;
    tracing::info!(session = %session.id, "closed a session");
    show::describe(wish.context, session).await
}
