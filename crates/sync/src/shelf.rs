//! What is shared of a session, taken down, changed, and put back.
//!
//! The one idea: who puts back says which generation was taken down. When another one is there by
//! then, nothing is stored, and it is done again from what is there now.

use super::error::SyncError;
use super::index;
use crate::context::Sync;
use baton_runtime::RuntimeError;
use baton_runtime::live::FilesGone;
use baton_session::revision::Author;
use baton_session::{Owner, Replica, RevisionId, Session, SessionId, Signed, Vector};
use baton_store::clock;
use baton_store::{Base, CommitShared, Generation, RevisionContent, Shared, StoreError};
use std::collections::BTreeSet;

/// How often a change is made anew because somebody else was faster.
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
    pub(super) async fn take(
        context: &Sync,
        owner: &Owner,
        session: SessionId,
    ) -> Result<Self, SyncError> {
        let found = context.store.fetch_shared(owner, session).await?;
        let (generation, shared) = match found {
            Some((generation, shared)) => (Some(generation), shared),
            None => (None, Shared { replica: Replica::new(session), base: None, lease: None }),
        };
        Ok(Self { owner: owner.clone(), shared, generation })
    }

    /// The same for a session of which something is shared.
    pub(super) async fn expect(
        context: &Sync,
        owner: &Owner,
        session: SessionId,
    ) -> Result<Self, SyncError> {
        let shelf = Self::take(context, owner, session).await?;
        if shelf.generation.is_none() {
            return Err(SyncError::NotShared { session: session.to_string() });
        }
        Ok(shelf)
    }

    /// Whether nothing is shared yet.
    pub(super) fn is_new(&self) -> bool {
        self.generation.is_none()
    }

    /// Puts it back. Fails with `SharedChanged` when somebody else was faster.
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

    /// Lets go of all of it. Fails with `SharedChanged` when somebody else was faster.
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

/// Whether somebody else was faster, so that it is to be done again.
pub(super) fn is_race(error: &SyncError) -> bool {
    matches!(error, SyncError::Runtime(RuntimeError::Store(StoreError::SharedChanged { .. })))
}
