//! Takes a snapshot now.

use super::{state, view};
use crate::error::RuntimeError;
use crate::life::{Capture, Wish};
use baton_api::SnapshotView;
use baton_session::SnapshotReason;

/// Reads the browser of an active session; the snapshot is on disk when this returns.
pub async fn capture(wish: &Wish<'_>) -> Result<SnapshotView, RuntimeError> {
    let context = wish.context;
    let held = wish.preflight(Capture).await?.hold().await?;
    let (owner, session) = (&held.session.owner, held.session.id);
    let snapshot = context.hub.capture(session, SnapshotReason::Request).await?;
    // The snapshot is there, whatever can be said of it.
    let unread = state::unread(context, owner, &snapshot).await.unwrap_or_else(|error| {
        tracing::warn!(%session, %error, "what could not be read is not told");
        Vec::new()
    });
    Ok(SnapshotView { unread, ..view::snapshot(&snapshot) })
}
