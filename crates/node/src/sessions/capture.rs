//! Takes a snapshot now.

use super::{state, view};
use crate::{Context, NodeError};
use baton_api::SnapshotView;
use baton_session::SnapshotReason;
use baton_session::{Lifecycle, Owner};

/// Reads the browser of an active session; the snapshot is on disk when this returns.
pub async fn capture(
    context: &Context,
    owner: &Owner,
    reference: &str,
) -> Result<SnapshotView, NodeError> {
    let (session, _turn) = context.take_turn(owner, reference).await?;
    if session.lifecycle != Lifecycle::Active {
        let (name, found) = (session.name, session.lifecycle);
        return Err(NodeError::WrongState { name, expected: "active", found });
    }
    let snapshot = context.hub.capture(session.id, SnapshotReason::Request).await?;
    // The snapshot is there, whatever can be said of it.
    let unread = state::unread(context, owner, &snapshot).await.unwrap_or_else(|error| {
        tracing::warn!(session = %session.id, %error, "what could not be read is not told");
        Vec::new()
    });
    Ok(SnapshotView { unread, ..view::snapshot(&snapshot) })
}
