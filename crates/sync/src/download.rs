//! Gives the current revision of a session as a session file, to whoever is no node.

use super::contents::{shared_parts, state};
use super::error::SyncError;
use super::origin::provenance;
use super::shelf::Shelf;
use super::working::current;
use crate::context::Sync;
use baton_api::{FileText, Scope};
use baton_runtime::Caller;
use baton_runtime::RuntimeError;
use baton_runtime::audit::{Action, Note};
use baton_session::wire::{self, Head, SessionFile, Version};
use baton_session::{Owner, RevisionId, SessionId, Signed};
use baton_store::blocking::blocking;

/// The current revision of a session as a file, and its name, which an upload based on it repeats.
/// Needs the scope `reveal`: whoever has the file is logged in.
pub async fn download(
    context: &Sync,
    caller: &Caller,
    session: SessionId,
) -> Result<(RevisionId, FileText), SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::Export, session.to_string());
    let file = async {
        caller.require(Scope::Reveal)?;
        read(context, caller, session).await
    };
    note.end(&context.store, file.await).await
}

async fn read(
    context: &Sync,
    caller: &Caller,
    session: SessionId,
) -> Result<(RevisionId, FileText), SyncError> {
    let shelf = Shelf::expect(context, &caller.owner, session).await?;
    let gone = || SyncError::NotShared { session: session.to_string() };
    let revision = current(context, &shelf).filter(|current| !current.deleted);
    let revision = revision.ok_or_else(gone)?.clone();
    let held = context.store.fetch_content(&caller.owner, session, revision.id()).await?;
    let held = held.ok_or(SyncError::NoContent { rev: revision.id() })?;
    let state = state(context, &caller.owner, &shared_parts(&held)).await?;
    let about = head(context, &caller.owner, &shelf, &revision).await?;
    let file = SessionFile { head: about, state };
    let text = blocking(move || wire::write(&file)).await?;
    let limit = baton_runtime::sessions::FILE_LIMIT;
    if text.len() > limit {
        let (name, size) = (revision.name.clone(), text.len());
        return Err(RuntimeError::FileTooLarge { name, size, limit }.into());
    }
    let file = FileText::new(text).map_err(|source| {
        SyncError::Runtime(RuntimeError::NotShown { name: revision.name.clone(), source })
    })?;
    Ok((revision.id(), file))
}

/// What a file says of the session itself.
pub(super) async fn head(
    context: &Sync,
    owner: &Owner,
    shelf: &Shelf,
    revision: &Signed,
) -> Result<Head, SyncError> {
    let acks = context.store.list_acks(owner, revision.session).await?;
    let have = acks.into_iter().filter(|(_, rev, _)| *rev == revision.id());
    let (made, by) = (revision.origin.created_at, revision.origin.created_by.clone());
    let origin = provenance(context, owner, revision.origin.node, made, by).await?;
    Ok(Head {
        id: revision.session.to_string(),
        name: revision.name.to_string(),
        description: revision.description.clone(),
        origin,
        sync: Version {
            version: revision.version,
            last_modified: Some(revision.modified_at),
            last_synced_to: have.map(|(node, _, _)| node.to_string()).collect(),
            rev: Some(revision.id()),
            vector: revision.vector.clone(),
            parents: revision.parents.clone(),
            deleted: revision.deleted,
            conflicts: shelf.shared.replica.siblings().iter().map(|one| one.id()).collect(),
            ..Version::default()
        },
    })
}
