//! Gives up a session, without a last snapshot.

use super::drive::{drive, let_go};
use super::{close, show};
use crate::auth::Caller;
use crate::{Context, NodeError, sync};
use baton_api::SessionView;

/// Ends the browser of a session as it is, closes the session and removes its profile. Its
/// snapshots are kept until it is deleted.
pub async fn abandon(
    context: &Context,
    caller: &Caller,
    reference: &str,
) -> Result<SessionView, NodeError> {
    let (session, _turn) = context.take_turn(&caller.owner, reference).await?;
    let session = close::not_closed(session)?;
    drive(context, caller, &session).await?;
    context.hub.abandon(session.id).await?;
    // The files go first, because a full disk would not take the rest; whatever becomes of them, the
    // name is freed.
    let removed = context.hub.delete_files(session.id).await;
    let session = close::finish(context, &session).await?;
    removed?;
    let_go(context, &session).await?;
    sync::lease::release(context, &caller.owner, session.id).await?;
    tracing::info!(session = %session.id, "abandoned a session");
    show::describe(context, session).await
}
