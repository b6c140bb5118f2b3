//! The nodes elsewhere, as sessions ask them, and how a session stands among them.

use crate::context::{Own, Sync};
use crate::deletions::publish_tombstone;
use crate::error::SyncError;
use crate::index::index;
use crate::session_files::provenance;
use crate::shelf::{Shelf, holder_elsewhere, release_peer_lease};
use crate::working::{current, expect_there, is_shared, settle};
use crate::{acquire, peer_lease};
use baton_api::sync::{HandedView, HolderView, SharedView};
use baton_runtime::table::Hold;
use baton_runtime::{Answer, Caller, Consent, Peers, Runtime, RuntimeError};
use baton_session::wire::Provenance;
use baton_session::{Owner, PeerLease, Session, SessionId, SessionName};
use baton_store::StoreError;
use std::sync::Arc;

/// The nodes that this one knows.
pub struct Nodes(pub Arc<Own>);

impl Nodes {
    fn with(&self, runtime: &Runtime) -> Sync {
        Sync { runtime: runtime.clone(), own: Arc::clone(&self.0) }
    }
}

impl Peers for Nodes {
    fn acquire<'a>(
        &'a self,
        runtime: &'a Runtime,
        by: &'a Caller,
        hold: &'a Hold,
        consent: Consent,
    ) -> Answer<'a, Option<HandedView>> {
        Box::pin(async move { Ok(acquire::acquire(&self.with(runtime), by, hold, consent).await?) })
    }

    fn settle<'a>(
        &'a self,
        runtime: &'a Runtime,
        hold: &'a Hold,
        session: &'a Session,
    ) -> Answer<'a, ()> {
        Box::pin(async move { Ok(settle(&self.with(runtime), hold, session).await?) })
    }

    fn expect_there<'a>(&'a self, runtime: &'a Runtime, session: &'a Session) -> Answer<'a, ()> {
        Box::pin(async move { Ok(expect_there(&self.with(runtime), session).await?) })
    }

    fn release<'a>(
        &'a self,
        runtime: &'a Runtime,
        owner: &'a Owner,
        session: SessionId,
    ) -> Answer<'a, ()> {
        Box::pin(async move { Ok(release_peer_lease(&self.with(runtime), owner, session).await?) })
    }

    fn hear<'a>(
        &'a self,
        runtime: &'a Runtime,
        owner: &'a Owner,
        session: SessionId,
    ) -> Answer<'a, ()> {
        Box::pin(async move { Ok(peer_lease::hear(&self.with(runtime), owner, session).await?) })
    }

    fn look_at_holder<'a>(
        &'a self,
        runtime: &'a Runtime,
        by: &'a Caller,
        session: SessionId,
    ) -> Answer<'a, bool> {
        Box::pin(
            async move { Ok(acquire::look_at_holder(&self.with(runtime), by, session).await?) },
        )
    }

    fn is_shared<'a>(&'a self, runtime: &'a Runtime, session: &'a Session) -> Answer<'a, bool> {
        Box::pin(async move { Ok(is_shared(&self.with(runtime), session).await?) })
    }

    fn publish_tombstone<'a>(
        &'a self,
        runtime: &'a Runtime,
        owner: &'a Owner,
        hold: &'a Hold,
    ) -> Answer<'a, ()> {
        Box::pin(async move { Ok(publish_tombstone(&self.with(runtime), owner, hold).await?) })
    }

    fn shown<'a>(
        &'a self,
        runtime: &'a Runtime,
        session: &'a Session,
    ) -> Answer<'a, Option<SharedView>> {
        Box::pin(async move { Ok(shown(&self.with(runtime), session).await?) })
    }

    fn provenance<'a>(
        &'a self,
        runtime: &'a Runtime,
        session: &'a Session,
    ) -> Answer<'a, Provenance> {
        Box::pin(async move {
            let (owner, made) = (&session.owner, session.created_at);
            let sync = self.with(runtime);
            Ok(provenance(&sync, owner, session.node, made, owner.to_string()).await?)
        })
    }
}

/// How a session stands among nodes; none when it is not shared.
pub(crate) async fn shown(
    context: &Sync,
    session: &Session,
) -> Result<Option<SharedView>, SyncError> {
    let shelf = match Shelf::load(context, &session.owner, session.id).await {
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
    let held_by = match shelf.shared.peer_lease.filter(|peer_lease| !peer_lease.released) {
        Some(peer_lease) => Some(holder(context, &session.owner, peer_lease).await?),
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

async fn holder(
    context: &Sync,
    owner: &Owner,
    peer_lease: PeerLease,
) -> Result<HolderView, SyncError> {
    let peers = context.store.list_peers(owner).await?;
    let peer = peers.into_iter().find(|peer| peer.node == peer_lease.node);
    Ok(HolderView {
        node_id: peer_lease.node,
        name: peer.map(|peer| peer.name),
        here: peer_lease.node == context.node,
        since: peer_lease.since,
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
        let Some(peer_lease) =
            line.peer_lease.filter(|peer_lease| !line.deleted && !peer_lease.released)
        else {
            continue;
        };
        if holder_elsewhere(context, Some(peer_lease)).await?.is_some() {
            let holder = holder(context, &caller.owner, peer_lease).await?;
            found.push(Elsewhere { session: line.id, name: line.name.clone(), holder });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name).then(a.session.cmp(&b.session)));
    Ok(found)
}
