//! Gives what is shared of a session.

use super::SyncError;
use super::contents::shared_parts;
use super::shelf::Shelf;
use crate::{Context, NodeError};
use baton_api::sync::Exchange;
use baton_session::revision::PartList;
use baton_session::{Owner, SessionId};
use std::collections::BTreeMap;

/// The revisions of a session, and of which parts they are made.
pub(crate) async fn exchange(
    context: &Context,
    owner: &Owner,
    session: SessionId,
) -> Result<Exchange, NodeError> {
    let shelf = Shelf::expect(context, owner, session).await?;
    let offer = shelf.shared.replica.offer();
    let mut lists = BTreeMap::new();
    for revision in offer.whole().filter(|revision| !revision.deleted) {
        let held = context.store.fetch_content(owner, session, revision.id()).await?;
        let held = held.ok_or(SyncError::NoContent { rev: revision.id() })?;
        lists.insert(revision.parts, PartList::new(&shared_parts(&held)));
    }
    Ok(Exchange { offer, lists: lists.into_values().collect(), lease: shelf.shared.lease })
}
