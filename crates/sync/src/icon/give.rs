//! Gives a peer the icon of a session.

use super::super::shelf::Shelf;
use crate::context::Sync;
use crate::error::SyncError;
use baton_runtime::sessions::icon_of;
use baton_session::{Owner, SessionId, StateKind, View};

/// The icon of what was last saved of a session, as far as its tabs are in a view; empty when there is
/// none. Of a session that was never saved, or is not there, it is empty as well.
pub async fn icon_for(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    view: &View,
) -> Result<Vec<u8>, SyncError> {
    let shelf = Shelf::take(context, owner, session).await?;
    let current = shelf.shared.replica.current().filter(|current| !current.deleted);
    let Some(current) = current else { return Ok(Vec::new()) };
    let held = context.store.fetch_content(owner, session, current.id()).await?;
    let icon = match &held {
        Some(held) => icon_of(context, owner, held).await?,
        None => None,
    };
    let seen = icon.filter(|(site, _)| view.has(Some(site), StateKind::Tabs));
    Ok(seen.map(|(_, png)| png).unwrap_or_default())
}
