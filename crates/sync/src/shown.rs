//! How a session stands among nodes, as its view shows it.

use super::index::index;
use super::lease::holder_elsewhere;
use super::shelf::Shelf;
use super::working::current;
use crate::context::Sync;
use crate::error::SyncError;
use baton_api::sync::{HolderView, SharedView};
use baton_runtime::Caller;
use baton_runtime::RuntimeError;
use baton_session::{Lease, Owner, Session, SessionId, SessionName};
use baton_store::StoreError;

/// How a session stands among nodes; none when it is not shared.
pub(crate) async fn shown(
    context: &Sync,
    session: &Session,
) -> Result<Option<SharedView>, SyncError> {
    let shelf = match Shelf::take(context, &session.owner, session.id).await {
        Ok(shelf) => shelf,
        // It costs itself only: the rest of the session is shown all the same.
        Err(SyncError::Runtime(RuntimeError::Store(error @ StoreError::SharedCorrupt { .. }))) => {
            tracing::warn!(session = %session.id, %error, "left out of a session's view");
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let Some(counts) = current(context, &shelf) else { return Ok(None) };
    let (rev, deleted) = (counts.id(), counts.deleted);
    let base = shelf.shared.base.as_ref().map(|base| base.revision.id());
    let held_by = match shelf.shared.lease.filter(|lease| !lease.released) {
        Some(lease) => Some(holder(context, &session.owner, lease).await?),
        None => None,
    };
    Ok(Some(SharedView {
        rev,
        based_on: base.filter(|base| *base != rev),
        deleted,
        conflicts: shelf.shared.replica.siblings().iter().map(|one| one.id()).collect(),
        held_by,
    }))
}

async fn holder(context: &Sync, owner: &Owner, lease: Lease) -> Result<HolderView, SyncError> {
    let peers = context.store.list_peers(owner).await?;
    let peer = peers.into_iter().find(|peer| peer.node == lease.node);
    Ok(HolderView {
        node_id: lease.node,
        name: peer.map(|peer| peer.name),
        here: lease.node == context.node,
        since: lease.since,
    })
}

/// A session of which there is a copy here, and that another node holds.
pub struct Elsewhere {
    pub(crate) session: SessionId,
    /// What it is called here.
    pub name: SessionName,
    /// Who holds it.
    pub holder: HolderView,
}

/// The caller's sessions that other nodes hold, as far as this one knows, by name.
pub async fn held_elsewhere(context: &Sync, caller: &Caller) -> Result<Vec<Elsewhere>, SyncError> {
    let mut found = Vec::new();
    for line in &index(context, caller).await?.sessions {
        let Some(lease) = line.lease.filter(|lease| !line.deleted && !lease.released) else {
            continue;
        };
        if holder_elsewhere(context, Some(lease)).await?.is_some() {
            let holder = holder(context, &caller.owner, lease).await?;
            found.push(Elsewhere { session: line.id, name: line.name.clone(), holder });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name).then(a.session.cmp(&b.session)));
    Ok(found)
}
