//! Shows one session in full.

use super::view;
use crate::latest::latest;
use crate::live::LiveError;
use crate::{Context, NodeError};
use baton_api::{SessionView, Tab};
use baton_session::{Lifecycle, Owner, PartKind, Session, parts};
use baton_store::{Snapshot, StoreError};

/// One session: its tabs, its latest snapshot and its latest receipt.
pub async fn show(
    context: &Context,
    owner: &Owner,
    reference: &str,
) -> Result<SessionView, NodeError> {
    let session = context.find(owner, reference).await?;
    describe(context, session).await
}

/// The view of a session that was found.
pub(super) async fn describe(
    context: &Context,
    session: Session,
) -> Result<SessionView, NodeError> {
    let snapshot = readable(latest(&context.store, session.id).await)?;
    let snapshot = snapshot.flatten().map(|found| found.snapshot);
    let receipt = readable(context.store.latest_receipt(session.id).await)?.flatten();
    Ok(SessionView {
        tabs: tabs(context, &session, snapshot.as_ref()).await?,
        foreign_tabs: context.hub.foreign_tabs(session.id).await.unwrap_or(0),
        snapshot: snapshot.as_ref().map(view::snapshot),
        receipt,
        session: view::summary(session),
    })
}

/// What was read, or none when it is damaged: that is no reason not to show the rest.
fn readable<T>(read: Result<T, StoreError>) -> Result<Option<T>, NodeError> {
    match read {
        Err(error @ (StoreError::SnapshotCorrupt { .. } | StoreError::ReceiptCorrupt { .. })) => {
            tracing::warn!(%error, "left out of a session's view");
            Ok(None)
        }
        read => Ok(Some(read?)),
    }
}

/// The tabs of the running browser; without one that answers, those of the snapshot. A tab whose
/// part is damaged is left out.
async fn tabs(
    context: &Context,
    session: &Session,
    snapshot: Option<&Snapshot>,
) -> Result<Vec<Tab>, NodeError> {
    if session.lifecycle == Lifecycle::Active {
        match context.hub.tabs(session.id).await {
            Err(LiveError::NotActive(_) | LiveError::Browser(_)) => {}
            tabs => return Ok(tabs?),
        }
    }
    let Some(snapshot) = snapshot else { return Ok(Vec::new()) };
    let wanted: Vec<_> =
        snapshot.parts.iter().filter(|part| part.kind == PartKind::Tab).cloned().collect();
    let found = context.store.fetch_parts(&session.owner, &wanted).await?;
    let (state, _damaged) = parts::join(found.iter().filter_map(|part| part.as_ref().ok()));
    Ok(state.tabs.into_iter().map(view::tab).collect())
}
