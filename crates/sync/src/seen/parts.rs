//! The parts that somebody is told of who sees a part of a session: those of the whole, and those that were
//! made for them.

use super::Seen;
use crate::contents::shared_parts;
use crate::context::Sync;
use crate::error::SyncError;
use crate::parcels::fetch_among;
use crate::shelf::Shelf;
use baton_api::sync::{Parcel, Wanted};
use baton_session::{Owner, PartHash, PartRef, SessionId, View};
use baton_store::PackedPart;
use std::collections::HashMap;

/// The parts that are asked for, if they belong to what somebody sees of the session.
pub(crate) async fn fetch_seen(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    view: &View,
    wanted: &[Wanted],
) -> Result<Vec<Parcel>, SyncError> {
    let shelf = Shelf::expect(context, owner, session).await?;
    let seen = Seen::of(context, &shelf, view).await?;
    let told = told(context, &shelf, &seen).await?;
    let is_made = |wanted: &&Wanted| seen.made(&wanted.part).is_some();
    let stored: Vec<Wanted> = wanted.iter().filter(|one| !is_made(one)).copied().collect();
    let mut stored = fetch_among(context, owner, session, &told, &stored).await?.into_iter();
    let parcel = |wanted: &Wanted| match seen.made(&wanted.part) {
        Some(PackedPart { part, packed }) => {
            Some(Parcel { part: part.clone(), base: None, bytes: packed.clone() })
        }
        None => stored.next(),
    };
    Ok(wanted.iter().filter_map(parcel).collect())
}

/// Parts that somebody is told of, whole, in the same order.
pub(crate) async fn pack(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    view: &View,
    parts: &[PartRef],
) -> Result<Vec<Parcel>, SyncError> {
    let shelf = Shelf::expect(context, owner, session).await?;
    let seen = Seen::of(context, &shelf, view).await?;
    let is_stored = |part: &&PartRef| seen.made(&part.hash).is_none();
    let stored: Vec<PartRef> = parts.iter().filter(is_stored).cloned().collect();
    let mut stored = context.store.fetch_packed(owner, &stored).await?.into_iter();
    let mut parcels = Vec::with_capacity(parts.len());
    for part in parts {
        let packed = match seen.made(&part.hash) {
            Some(made) => Some(made.clone()),
            None => stored.next().transpose()?,
        };
        let bytes = packed.map(|packed| packed.packed).unwrap_or_default();
        parcels.push(Parcel { part: part.clone(), base: None, bytes });
    }
    Ok(parcels)
}

/// The parts that somebody is told of.
async fn told(
    context: &Sync,
    shelf: &Shelf,
    seen: &Seen,
) -> Result<HashMap<PartHash, PartRef>, SyncError> {
    let mut told = HashMap::new();
    for revision in shelf.shared.replica.whole().filter(|one| !one.deleted) {
        let parts: Vec<PartRef> = if let Some(shown) = seen.0.get(&revision.id()) {
            shown.iter().flat_map(|shown| shown.list.parts()).collect()
        } else {
            let (owner, session) = (&shelf.owner, revision.session);
            let held = context.store.fetch_content(owner, session, revision.id()).await?;
            held.iter().flat_map(shared_parts).collect()
        };
        told.extend(parts.into_iter().map(|part| (part.hash, part)));
    }
    Ok(told)
}
