//! Gives up a session, without a last snapshot.

use super::show;
use crate::error::RuntimeError;
use crate::life::{self, Abandon, Wish};
use baton_api::SessionView;

/// Ends the browser of a session as it is, closes the session and removes its profile. Its
/// snapshots are kept until it is deleted.
pub async fn abandon(wish: &Wish<'_>) -> Result<SessionView, RuntimeError> {
    let context = wish.context;
    let held = wish.preflight(Abandon).await?.hold().await?;
    context.hub.abandon(&held.hold).await?;
    // The files go first, because a full disk would not take the rest; whatever becomes of them, the
    // name is freed.
    let removed = context.hub.delete_files(&held.hold).await;
    let session = life::finish(context, &held.session).await?;
    life::give_back_to_peers(context, &session.owner, session.id).await;
    removed?;
    life::let_go(context, &session).await?;
    tracing::info!(session = %session.id, "abandoned a session");
    show::describe(context, session).await
}
