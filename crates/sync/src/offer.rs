//! Gives what is shared of a session, or what somebody sees of it.

use super::contents::shared_parts;
use super::error::SyncError;
use super::seen::Seen;
use super::shelf::Shelf;
use crate::context::Sync;
use baton_api::sync::Exchange;
use baton_session::revision::PartList;
use baton_session::{Owner, SessionId, View};
use std::collections::BTreeMap;

/// The revisions of a session as a peer is given them, of which `view` is what goes to it, and of which
/// parts they are made. Of a session of which there is nothing for it, it is told only if it may have
/// something of it already: that it is gone.
pub async fn exchange_for(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    view: &View,
    may_have: bool,
) -> Result<Exchange, SyncError> {
    if !view.is_whole() && !may_have {
        let shelf = Shelf::expect(context, owner, session).await?;
        if Seen::of(context, &shelf, view).await?.is_nothing(&shelf) {
            return Err(SyncError::NothingSeen { session, view: view.clone() });
        }
    }
    exchange(context, owner, session, view).await
}

/// The revisions of a session as somebody sees them, and of which parts they are made.
pub(super) async fn exchange(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    view: &View,
) -> Result<Exchange, SyncError> {
    let shelf = Shelf::expect(context, owner, session).await?;
    let seen = Seen::of(context, &shelf, view).await?;
    let offer = shelf.shared.replica.offer_seen(&seen.revisions());
    if offer.heads.is_empty() {
        return Err(SyncError::NothingSeen { session, view: view.clone() });
    }
    let mut lists = BTreeMap::new();
    for revision in offer.whole().filter(|revision| !revision.deleted) {
        if let Some(list) = seen.list(revision.id()) {
            lists.insert(revision.parts, list.clone());
            continue;
        }
        let held = context.store.fetch_content(owner, session, revision.id()).await?;
        let held = held.ok_or(SyncError::NoContent { rev: revision.id() })?;
        lists.insert(revision.parts, PartList::new(&shared_parts(&held)));
    }
    Ok(Exchange { offer, lists: lists.into_values().collect(), lease: shelf.shared.lease })
}
