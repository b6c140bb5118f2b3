//! What an exchange says of parts: which belong to which revision, which are missing here, and whether
//! they make the state that is named.

use super::Lists;
use crate::contents;
use crate::contents::AtHand;
use crate::context::Sync;
use crate::damage::DamageError;
use crate::error::SyncError;
use crate::parcels::pays;
use crate::shelf::Shelf;
use baton_api::sync::{Exchange, Wanted};
use baton_session::revision::merge::is_within;
use baton_session::{Owner, PartHash, PartKind, PartRef, Signed, wire};
use baton_store::StoreError;
use baton_store::blocking::blocking;
use std::collections::{BTreeMap, HashMap};

/// How many older parts are in memory at once.
const OPENED_AT_ONCE: usize = 16;

/// Checks what an exchange says of parts: every revision has its list, and no list is too long or names
/// what no revision holds.
pub(super) fn check<'a>(context: &Sync, exchange: &'a Exchange) -> Result<Lists<'a>, SyncError> {
    let lists: Lists = exchange.lists.iter().map(|list| (list.hash(), list)).collect();
    let limits = context.store.limits();
    for revision in exchange.offer.whole().filter(|revision| !revision.deleted) {
        let rev = revision.id();
        let list = lists.get(&revision.parts).ok_or(SyncError::NoList { rev })?;
        // With such a part it could be taken here, and never be given on: what is given has none.
        if let Some(PartRef { kind, name, .. }) =
            list.parts().find(|part| part.kind.is_of_one_node())
        {
            return Err(SyncError::OfOneNode { rev, kind, name });
        }
        if list.size() != revision.size {
            return Err(SyncError::WrongSize { rev, expected: revision.size, found: list.size() });
        }
        let limit = context.own.settings.session_bytes;
        if list.size() > limit {
            return Err(SyncError::TooLarge { rev, limit, found: list.size() });
        }
        if list.len() > limits.snapshot_parts {
            let (found, limit) = (list.len(), limits.snapshot_parts);
            return Err(StoreError::TooManyParts { found, limit }.into());
        }
    }
    Ok(lists)
}

/// Checks that parts make the state that their revision names by its checksum. Revisions with one checksum
/// count as saying the same, so one that lies would take the place of another. No hash of a part says that:
/// the list and the checksum are two claims of the node that signed the revision.
pub(super) async fn check_states(
    context: &Sync,
    owner: &Owner,
    revisions: impl Iterator<Item = &(Signed, Vec<PartRef>)>,
    at_hand: &mut AtHand,
) -> Result<(), SyncError> {
    for (revision, parts) in revisions {
        let rev = revision.id();
        let state = match contents::state_of(context, owner, parts, at_hand).await {
            Err(SyncError::BadContent { why }) => {
                return Err(SyncError::from(DamageError::NoState { rev, why }));
            }
            state => state?,
        };
        let knowledge = revision.knowledge();
        let expected = revision.checksum;
        let work = move || {
            let is_within = knowledge.is_plain() || is_within(&knowledge, &state);
            let found = wire::checksum_of(&state);
            // One that was signed before the order of cookies counted.
            let is_same = found == expected || wire::checksum_by_key(&state) == expected;
            (is_within, is_same, found)
        };
        let (is_within, is_same, found) = blocking(work).await?;
        if !is_within {
            return Err(SyncError::BeyondViews { rev });
        }
        if !is_same {
            return Err(SyncError::WrongChecksum { rev, expected, found });
        }
    }
    Ok(())
}

/// The parts of a revision: those of its list, or of a revision here that has the same.
pub(super) async fn parts_of(
    context: &Sync,
    shelf: &Shelf,
    revision: &Signed,
    lists: &Lists<'_>,
) -> Result<Vec<PartRef>, SyncError> {
    if let Some(list) = lists.get(&revision.parts) {
        return Ok(list.parts().collect());
    }
    let replica = &shelf.shared.replica;
    for other in replica.whole().chain(revision.parents.iter().filter_map(|id| replica.find(*id))) {
        let (owner, session) = (&shelf.owner, replica.session());
        if other.parts == revision.parts
            && let Some(held) = context.store.fetch_content(owner, session, other.id()).await?
        {
            return Ok(contents::shared_parts(&held));
        }
    }
    Err(SyncError::NoList { rev: revision.id() })
}

/// The parts that are here and damaged: the node that offers them has them whole.
pub(super) async fn damaged(
    context: &Sync,
    owner: &Owner,
    gained: &[(Signed, Vec<PartRef>)],
) -> Result<Vec<Wanted>, SyncError> {
    let all = gained.iter().flat_map(|(_, parts)| parts);
    let all: BTreeMap<PartHash, &PartRef> = all.map(|part| (part.hash, part)).collect();
    let all = all.into_values().filter(|part| !part.kind.is_picture()).cloned().collect();
    let damaged = context.supervisor.damaged_of(owner, all).await?;
    Ok(damaged.iter().map(|part| Wanted { part: part.hash, base: None }).collect())
}

/// The parts that are not here, each with an older one of its place, if that can be read.
pub(super) async fn missing(
    context: &Sync,
    shelf: &Shelf,
    gained: &[(Signed, Vec<PartRef>)],
) -> Result<Vec<Wanted>, SyncError> {
    let all: Vec<PartRef> = gained.iter().flat_map(|(_, parts)| parts.iter().cloned()).collect();
    let missing = context.store.missing_parts(&shelf.owner, &all).await?;
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let places = places(context, shelf).await?;
    let mut wanted = BTreeMap::new();
    for some in missing.chunks(OPENED_AT_ONCE) {
        let older = |part: &PartRef| places.get(&(part.kind, part.name.clone()));
        let older = some.iter().map(|part| older(part).filter(|older| pays(part, older)));
        let older: Vec<Option<&PartRef>> = older.collect();
        let named: Vec<PartRef> = older.iter().copied().flatten().cloned().collect();
        let mut opened = context.store.fetch_parts(&shelf.owner, &named).await?.into_iter();
        for (part, older) in some.iter().zip(older) {
            let base = older.filter(|_| opened.next().is_some_and(|opened| opened.is_ok()));
            wanted.insert(part.hash, Wanted { part: part.hash, base: base.map(|base| base.hash) });
        }
    }
    Ok(wanted.into_values().collect())
}

/// What is here in each place of the session.
async fn places(
    context: &Sync,
    shelf: &Shelf,
) -> Result<HashMap<(PartKind, String), PartRef>, SyncError> {
    let Some(base) = &shelf.shared.base else { return Ok(HashMap::new()) };
    let (owner, session) = (&shelf.owner, base.revision.session);
    let held = context.store.fetch_content(owner, session, base.revision.id()).await?;
    let parts = held.into_iter().flat_map(|held| held.parts);
    Ok(parts.map(|part| ((part.kind, part.name.clone()), part)).collect())
}
