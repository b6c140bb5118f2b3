//! Looks at one revision for somebody who sees a part of a session.

use super::SeenRevision;
use super::looks::Key;
use crate::contents;
use crate::contents::{is_damage, shared_parts};
use crate::context::Sync;
use crate::damage::DamageError;
use crate::error::SyncError;
use baton_session::revision::{Content, PartList};
use baton_session::{
    NodeSecret, Owner, Part, PartHash, PartRef, RevisionId, Signed, State, View, parts, wire,
};
use baton_store::PackedPart;
use baton_store::blocking::blocking;
use std::collections::HashSet;
use std::sync::Arc;

/// What is seen of one revision.
pub(super) async fn look(
    context: &Sync,
    owner: &Owner,
    signed: &Signed,
    view: &View,
    conflicts: Vec<RevisionId>,
) -> Result<Arc<SeenRevision>, SyncError> {
    let (owner_too, view_too, named) = (owner.clone(), view.clone(), conflicts.clone());
    let key = Key { owner: owner_too, revision: signed.id(), view: view_too, conflicts: named };
    if let Some(known) = context.own.looks.get(&key) {
        return Ok(known);
    }
    let secret = context.own.identity.now().secret().clone();
    let (signed, view) = (signed.clone(), view.clone());
    let seen = if signed.deleted {
        let says = Content::deleted(signed.name.clone(), signed.origin.clone());
        let signed = signed.seen_through(&view, says, conflicts, &secret);
        let (list, made) = Default::default();
        SeenRevision { signed, list, made, is_empty: false }
    } else {
        let session = signed.session;
        let held = context.store.fetch_content(owner, session, signed.id()).await?;
        let held = held.ok_or(SyncError::NoContent { rev: signed.id() })?;
        let whole = shared_parts(&held);
        let state = contents::state(context, owner, &whole).await;
        let state = state.map_err(|error| unnamed(&signed, error))?;
        blocking(move || cut(&signed, &whole, &view.of(&state), (&view, conflicts, &secret)))
            .await?
    };
    let seen = Arc::new(seen);
    context.own.looks.put(key, &seen);
    Ok(seen)
}

/// What is damaged may be of a site of which they are told nothing: its name is for the log.
fn unnamed(signed: &Signed, error: SyncError) -> SyncError {
    if !is_damage(&error) {
        return error;
    }
    let (session, rev) = (signed.session, signed.id());
    tracing::error!(%session, %rev, %error, "nothing is given of a revision that is damaged");
    SyncError::from(DamageError::Hurt { rev })
}

/// The revision that says what is seen of one, with the parts that this one has not.
fn cut(
    signed: &Signed,
    whole: &[PartRef],
    state: &State,
    (view, conflicts, secret): (&View, Vec<RevisionId>, &NodeSecret),
) -> SeenRevision {
    let parts = parts::split(state);
    let list = PartList::new(&parts.iter().map(Part::reference).collect::<Vec<_>>());
    let content = Content {
        checksum: wire::checksum_of(state),
        parts: list.hash(),
        size: list.size(),
        ..signed.content()
    };
    let known: HashSet<PartHash> = whole.iter().map(|part| part.hash).collect();
    let made = parts.into_iter().filter_map(|part| {
        let reference = part.reference();
        let is_new = !known.contains(&reference.hash);
        is_new.then(|| (reference.hash, PackedPart::said_to_be(reference, &part.bytes)))
    });
    let made = made.collect();
    let is_empty = state.cookies.is_empty() && state.origins.is_empty() && state.tabs.is_empty();
    let signed = signed.seen_through(view, content, conflicts, secret);
    SeenRevision { signed, list, made, is_empty }
}
