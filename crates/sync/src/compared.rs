//! What there is to choose from, compared: how each sibling differs from the revision that counts.

use super::conflicts::view;
use super::contents::{self, is_unreadable};
use super::error::SyncError;
use super::shelf::Shelf;
use crate::context::Sync;
use baton_api::sync::{ConflictDetails, RevisionDifference, RevisionView};
use baton_runtime::Caller;
use baton_runtime::RuntimeError;
use baton_session::diff::diff;
use baton_session::{RevisionId, SessionId, State};
use baton_store::blocking::blocking;
use std::sync::Arc;

/// How the revisions of a session differ between which someone has to choose: by site, and without a
/// value. It is read, and nothing changes.
pub async fn conflict(
    context: &Sync,
    caller: &Caller,
    reference: &str,
) -> Result<ConflictDetails, SyncError> {
    let session = context.find(&caller.owner, reference).await?;
    let shelf = Shelf::expect(context, &caller.owner, session.id).await?;
    let gone = || SyncError::NotShared { session: session.id.to_string() };
    let conflict = view(context, &shelf, Some(&session.name)).ok_or_else(gone)?;
    let mut differences = Vec::with_capacity(conflict.siblings.len());
    if !conflict.siblings.is_empty() {
        let reader = Reader { context, shelf: &shelf, session: session.id };
        let current = reader.read(&conflict.current).await?.map(|state| state.map(Arc::new));
        for sibling in &conflict.siblings {
            differences.push(reader.compare(&current, sibling).await?);
        }
    }
    Ok(ConflictDetails { conflict, differences })
}

/// What a revision holds, none when it deletes the session; or why it cannot be read.
type Held<T> = Result<Option<T>, String>;

/// Reads the revisions of one session.
struct Reader<'a> {
    context: &'a Sync,
    shelf: &'a Shelf,
    session: SessionId,
}

impl Reader<'_> {
    /// Compares a sibling with what counts; one at a time is in memory beside it.
    async fn compare(
        &self,
        current: &Held<Arc<State>>,
        sibling: &RevisionView,
    ) -> Result<RevisionDifference, SyncError> {
        let rev = sibling.rev;
        let nothing = |unreadable| RevisionDifference { rev, sites: Vec::new(), unreadable };
        let before = match current {
            Ok(Some(state)) => Arc::clone(state),
            Ok(None) => return Ok(nothing(None)),
            Err(why) => return Ok(nothing(Some(why.clone()))),
        };
        match self.read(sibling).await? {
            Ok(Some(after)) => {
                let sites = blocking(move || diff(&before, &after).by_site()).await?;
                Ok(RevisionDifference { rev, sites, unreadable: None })
            }
            Ok(None) => Ok(nothing(None)),
            Err(why) => Ok(nothing(Some(why))),
        }
    }

    /// What of one cannot be read must not keep anybody from choosing.
    async fn read(&self, revision: &RevisionView) -> Result<Held<State>, SyncError> {
        if revision.deleted {
            return Ok(Ok(None));
        }
        match self.state(revision.rev).await {
            Ok(state) => Ok(Ok(Some(state))),
            Err(SyncError::Runtime(RuntimeError::Store(error))) if is_unreadable(&error) => {
                Ok(Err(error.to_string()))
            }
            Err(error @ SyncError::Runtime(_)) => Err(error),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    async fn state(&self, rev: RevisionId) -> Result<State, SyncError> {
        let (store, owner) = (&self.context.store, &self.shelf.owner);
        let held = store.fetch_content(owner, self.session, rev).await?;
        let held = held.ok_or(SyncError::NoContent { rev })?;
        contents::state(self.context, owner, &contents::shared_parts(&held)).await
    }
}
