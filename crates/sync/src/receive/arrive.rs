//! Makes revisions that have arrived visible: in one transaction, with the session if it is new here.

use crate::context::Sync;
use crate::error::SyncError;
use crate::reconcile::aside;
use crate::shelf::{Along, Shelf};
use crate::working::row;
use baton_session::{Lifecycle, Owner, PartRef, RevisionId, Session, SessionName, Signed};
use baton_store::{NewSnapshot, RevisionContent, StoreError};

/// Makes the revisions visible, and the session, if it is new here.
pub(super) async fn store(
    context: &Sync,
    shelf: &mut Shelf,
    gained: Vec<(Signed, Vec<PartRef>)>,
    released: Vec<RevisionId>,
) -> Result<(), SyncError> {
    let current = shelf.shared.replica.current().cloned();
    let current = current.filter(|current| !current.deleted);
    let is_here = row(context, &shelf.owner, shelf.shared.replica.session()).await?.is_some();
    let create = match &current {
        Some(current) if !is_here => Some(new_row(context, &shelf.owner, current).await?),
        _ => None,
    };
    if !is_here && create.is_none() {
        // A session that was deleted before it ever came here: that it was is all there is to know.
        return shelf.put_back(context, Along::default()).await;
    }
    let mut contents = Vec::new();
    for (revision, carried) in gained {
        let is_current = current.as_ref().is_some_and(|current| current.id() == revision.id());
        let stands = create.is_some() && is_current;
        let snapshot = NewSnapshot { carried, sibling: !stands, ..aside(shelf) };
        if stands {
            shelf.stand_on(revision.clone(), snapshot.id);
        }
        contents.push((revision.id(), RevisionContent::New(snapshot)));
    }
    // The newest snapshot is the one that a resume takes.
    contents
        .sort_by_key(|(_, content)| matches!(content, RevisionContent::New(new) if !new.sibling));
    let create = create.as_ref();
    shelf.put_back(context, Along { create, contents, released, forget: None }).await
}

/// The row of a session that comes from elsewhere.
async fn new_row(context: &Sync, owner: &Owner, current: &Signed) -> Result<Session, SyncError> {
    Ok(Session {
        id: current.session,
        name: free_name(context, owner, &current.name).await?,
        description: current.description.clone(),
        owner: owner.clone(),
        node: context.node,
        headed: false,
        debug: false,
        lifecycle: Lifecycle::Recoverable,
        created_at: current.origin.created_at,
        updated_at: baton_store::clock::now(),
    })
}

/// The name, or one like it that no other session of the owner has.
async fn free_name(
    context: &Sync,
    owner: &Owner,
    name: &SessionName,
) -> Result<SessionName, SyncError> {
    let start: String = name.as_str().chars().take(58).collect();
    let others = (2..1000).filter_map(|number| format!("{start}-{number}").parse().ok());
    for candidate in std::iter::once(name.clone()).chain(others) {
        match context.store.find_session(owner, candidate.as_str()).await {
            Ok(bearer) if bearer.lifecycle.holds_name() => {}
            Ok(_) | Err(StoreError::SessionNotFound { .. }) => return Ok(candidate),
            Err(error) => return Err(error.into()),
        }
    }
    Err(StoreError::NameTaken { name: name.to_string() }.into())
}
