//! What is shared of a session, taken down, changed, and put back: its revisions, and who holds it.
//!
//! The one idea: who puts back says which generation was taken down. When another one is there by
//! then, nothing is stored, and it is done again from what is there now.

use crate::context::Sync;
use crate::error::SyncError;
use crate::index;
use baton_runtime::RuntimeError;
use baton_runtime::live::FilesGone;
use baton_session::revision::Author;
use baton_session::{
    Lifecycle, NodeId, Owner, PeerLease, Replica, RevisionId, Session, SessionId, Signed, Vector,
};
use baton_store::{Base, CommitShared, Generation, RevisionContent, Shared, StoreError, clock};
use std::collections::BTreeSet;

/// How often a change is made anew because another write was faster.
pub(super) const ATTEMPTS: usize = 8;

/// What is shared of one session, in hand.
pub(super) struct Shelf {
    pub(super) owner: Owner,
    pub(super) shared: Shared,
    generation: Option<Generation>,
}

/// What goes into the database together with the revisions.
#[derive(Default)]
pub(super) struct Along<'a> {
    /// A session that is new here.
    pub(super) create: Option<&'a Session>,
    /// Which snapshots hold the content of which revisions.
    pub(super) contents: Vec<(RevisionId, RevisionContent)>,
    /// Revisions whose content is not needed any more.
    pub(super) released: Vec<RevisionId>,
    /// The session itself goes, as its files have.
    pub(super) forget: Option<FilesGone>,
}

impl Shelf {
    /// Takes down what is shared of a session; an empty one when nothing is.
    pub(super) async fn load(
        context: &Sync,
        owner: &Owner,
        session: SessionId,
    ) -> Result<Self, SyncError> {
        let found = context.store.fetch_shared(owner, session).await?;
        let (generation, shared) = match found {
            Some((generation, shared)) => (Some(generation), shared),
            None => (None, Shared { replica: Replica::new(session), base: None, peer_lease: None }),
        };
        Ok(Self { owner: owner.clone(), shared, generation })
    }

    /// The same for a session of which something is shared.
    pub(super) async fn expect(
        context: &Sync,
        owner: &Owner,
        session: SessionId,
    ) -> Result<Self, SyncError> {
        let shelf = Self::load(context, owner, session).await?;
        if shelf.generation.is_none() {
            return Err(SyncError::NotShared { session: session.to_string() });
        }
        Ok(shelf)
    }

    /// Whether nothing is shared yet.
    pub(super) fn is_new(&self) -> bool {
        self.generation.is_none()
    }

    /// Puts it back. Fails with `SharedChanged` when another write was faster.
    pub(super) async fn put_back(
        &mut self,
        context: &Sync,
        along: Along<'_>,
    ) -> Result<(), SyncError> {
        let Along { create, contents, released, forget } = along;
        let session = self.shared.replica.session();
        let commit = CommitShared {
            owner: &self.owner,
            session,
            expected: self.generation,
            shared: &self.shared,
            entry: index::entry(&self.shared),
            create,
            snapshots: contents,
            released,
            forget: forget.is_some_and(|gone| gone.session() == session),
            now: clock::now(),
        };
        self.generation = Some(context.store.commit_shared(commit).await?);
        Ok(())
    }

    /// How far the session has come: all revisions here together.
    pub(super) fn vector(&self) -> Vector {
        let all = self.shared.replica.heads().map(|head| &head.vector);
        all.fold(Vector::default(), Vector::join)
    }

    /// Lets go of all of it. Fails with `SharedChanged` when another write was faster.
    pub(super) async fn forget(self, context: &Sync) -> Result<(), SyncError> {
        if let Some(generation) = self.generation {
            let session = self.shared.replica.session();
            context.store.delete_shared(&self.owner, session, generation).await?;
        }
        Ok(())
    }

    /// The revisions whose content belongs here now.
    pub(super) fn whole(&self) -> BTreeSet<RevisionId> {
        self.shared.replica.whole().map(Signed::id).collect()
    }

    /// Those of `before` whose content is not needed any more.
    pub(super) fn released(&self, before: &BTreeSet<RevisionId>) -> Vec<RevisionId> {
        before.difference(&self.whole()).copied().collect()
    }

    /// Says that the working copy comes from this revision from now on.
    pub(super) fn stand_on(&mut self, revision: Signed, snapshot: baton_session::SnapshotId) {
        self.shared.base = Some(Base { revision, snapshot });
    }
}

/// This node as the writer of a revision, now.
pub(super) fn author(context: &Sync) -> Author {
    Author {
        actor: context.own.identity.actor(),
        secret: context.own.identity.secret(),
        now: clock::now(),
    }
}

/// Whether another write was faster, so that it is to be done again.
pub(super) fn is_race(error: &SyncError) -> bool {
    matches!(error, SyncError::Runtime(RuntimeError::Store(StoreError::SharedChanged { .. })))
}

/// The row of a session, if it has one here.
pub(super) async fn row(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
) -> Result<Option<Session>, SyncError> {
    match context.store.fetch_session(owner, session).await {
        Ok(row) => Ok(Some(row)),
        Err(StoreError::SessionNotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Writes down who holds a session, unless a peer lease is known that counts more. Returns whether it did.
pub(crate) async fn record_peer_lease(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    peer_lease: PeerLease,
) -> Result<bool, SyncError> {
    let newer = |known: Option<PeerLease>| {
        let counts = known.is_none_or(|known| peer_lease.supersedes(&known));
        (counts && peer_lease.is_plausible(known)).then_some(peer_lease)
    };
    write(context, owner, session, newer).await
}

/// The peer lease of a node whose browser runs while a session becomes shared, or after it was free.
pub(crate) fn hold_if_free(shelf: &mut Shelf, node: NodeId) {
    let known = shelf.shared.peer_lease;
    if known.is_none_or(|known| known.released) {
        shelf.shared.peer_lease = Some(PeerLease::after(known, node, clock::now()));
    }
}

/// Gives back the peer lease of this node, if it has it.
pub(crate) async fn release_peer_lease(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
) -> Result<(), SyncError> {
    let given_back = |known: Option<PeerLease>| {
        let own = known.filter(|known| known.node == context.node && !known.released)?;
        Some(PeerLease { released: true, ..own })
    };
    write(context, owner, session, given_back).await?;
    Ok(())
}

/// Writes another peer lease down, if there is one to write. Returns whether there was.
async fn write(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    change: impl Fn(Option<PeerLease>) -> Option<PeerLease>,
) -> Result<bool, SyncError> {
    for _ in 0..ATTEMPTS {
        let mut shelf = Shelf::load(context, owner, session).await?;
        let Some(changed) = change(shelf.shared.peer_lease).filter(|_| !shelf.is_new()) else {
            return Ok(false);
        };
        shelf.shared.peer_lease = Some(changed);
        match shelf.put_back(context, Along::default()).await {
            Err(error) if is_race(&error) => {}
            put => return put.map(|()| true),
        }
    }
    Err(SyncError::Contended { session })
}

/// Who holds a session by this peer lease, if it is another node than those of this database: among those,
/// the leases of the database count.
pub(crate) async fn holder_elsewhere(
    context: &Sync,
    peer_lease: Option<PeerLease>,
) -> Result<Option<NodeId>, SyncError> {
    let Some(peer_lease) =
        peer_lease.filter(|peer_lease| peer_lease.is_held_by_other(context.node))
    else {
        return Ok(None);
    };
    let nodes = context.store.list_nodes().await?;
    let is_here = nodes.iter().any(|found| found.node.id == peer_lease.node);
    Ok((!is_here).then_some(peer_lease.node))
}

/// Whether this node runs the browser of a session.
pub(crate) fn runs_here(context: &Sync, row: &Session) -> bool {
    row.lifecycle == Lifecycle::Active && row.node == context.node
}

pub(crate) async fn is_run_here(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
) -> Result<bool, SyncError> {
    Ok(row(context, owner, session).await?.is_some_and(|row| runs_here(context, &row)))
}
