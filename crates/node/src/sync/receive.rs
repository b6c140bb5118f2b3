//! Takes what another node offers of a session.
//!
//! The one idea: first everything is checked, then the parts come and lie aside, and only when all of
//! them are here one transaction makes the revisions visible. Until then nothing has changed, and what
//! lies aside is not fetched again.

use super::reconcile::{aside, reconcile};
use super::shelf::{ATTEMPTS, Along, Shelf, author, is_race};
use super::working::{advance, keep_unsaved, row};
use super::{SyncError, contents};
use crate::{Context, NodeError};
use baton_api::sync::{Exchange, Taken, Wanted};
use baton_session::revision::PartList;
use baton_session::{
    Lifecycle, Offer, Owner, PartHash, PartKind, PartRef, RevisionId, Session, SessionId,
    SessionName, Signed, wire,
};
use baton_store::{NewSnapshot, RevisionContent, StoreError};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

/// How long it waits for other operations on the session.
const TURN_LIMIT: Duration = Duration::from_mins(1);

/// The lists of an exchange, by their hash.
type Lists<'a> = HashMap<PartHash, &'a PartList>;

/// Takes an exchange, or says which parts have to come first. All or nothing.
pub(crate) async fn take(
    context: &Context,
    owner: &Owner,
    exchange: &Exchange,
) -> Result<Taken, NodeError> {
    let session = exchange.offer.session;
    let lists = check(context, exchange)?;
    let _turn = context.turn(session, TURN_LIMIT).await?;
    let mut kept = false;
    for _ in 0..ATTEMPTS {
        match attempt(context, owner, exchange, &lists, kept).await {
            Err(error) if is_race(&error) => {}
            Err(error) => return Err(error),
            Ok(Attempt::Ready) => {
                if let Some(row) = row(context, owner, session).await? {
                    keep_unsaved(context, &row).await?;
                }
                kept = true;
            }
            Ok(Attempt::Missing(missing)) => {
                let (rev, conflicts, lease) = (None, Vec::new(), None);
                return Ok(Taken { missing, changed: false, rev, conflicts, lease });
            }
            Ok(Attempt::Known) => return told(context, owner, session, false).await,
            Ok(Attempt::Stored) => {
                reconcile(context, owner, session).await?;
                advance(context, owner, session).await?;
                return told(context, owner, session, true).await;
            }
        }
    }
    Err(SyncError::Contended { session }.into())
}

/// What became of an attempt to store what is offered.
enum Attempt {
    /// Nothing in it is new.
    Known,
    /// It is on disk.
    Stored,
    /// Nothing was stored: these parts have to come first.
    Missing(Vec<Wanted>),
    /// Nothing was stored: what was captured here and not saved has to be kept first.
    Ready,
}

/// Checks what an exchange says of parts: every revision has its list, and no list is too long.
fn check<'a>(context: &Context, exchange: &'a Exchange) -> Result<Lists<'a>, NodeError> {
    let lists: Lists = exchange.lists.iter().map(|list| (list.hash(), list)).collect();
    let limits = context.store.limits();
    for revision in exchange.offer.whole().filter(|revision| !revision.deleted) {
        let rev = revision.id();
        let list = lists.get(&revision.parts).ok_or(SyncError::NoList { rev })?;
        if list.size() != revision.size {
            return Err(
                SyncError::WrongSize { rev, expected: revision.size, found: list.size() }.into()
            );
        }
        let limit = context.sync.session_bytes;
        if list.size() > limit {
            return Err(SyncError::TooLarge { rev, limit, found: list.size() }.into());
        }
        if list.len() > limits.snapshot_parts {
            let (found, limit) = (list.len(), limits.snapshot_parts);
            return Err(StoreError::TooManyParts { found, limit }.into());
        }
    }
    Ok(lists)
}

/// Stores what is offered; or nothing, and returns what has to be done first. `kept` says whether what
/// was not saved here is a revision by now.
async fn attempt(
    context: &Context,
    owner: &Owner,
    exchange: &Exchange,
    lists: &Lists<'_>,
    kept: bool,
) -> Result<Attempt, NodeError> {
    let offer = &exchange.offer;
    let mut shelf = Shelf::take(context, owner, offer.session).await?;
    let before = shelf.whole();
    let had: BTreeSet<_> = shelf.shared.replica.whole().map(said).collect();
    leave_copies(context, &mut shelf, offer).await?;
    shelf.shared.replica.receive(offer, &author(context)).map_err(SyncError::from)?;
    if shelf.whole() == before && !shelf.is_new() {
        return Ok(Attempt::Known);
    }
    let mut gained = Vec::new();
    for revision in shelf.shared.replica.whole() {
        if !before.contains(&revision.id()) && !revision.deleted {
            gained.push((revision.clone(), parts_of(context, &shelf, revision, lists).await?));
        }
    }
    let missing = missing(context, &shelf, &gained).await?;
    if !missing.is_empty() {
        return Ok(Attempt::Missing(missing));
    }
    if !kept {
        let new = gained.iter().filter(|(revision, _)| !had.contains(&said(revision)));
        check_states(context, owner, new).await?;
        return Ok(Attempt::Ready);
    }
    let released = shelf.released(&before);
    store(context, &mut shelf, gained, released).await?;
    Ok(Attempt::Stored)
}

/// The list of a revision's parts, and the checksum that their state should have.
fn said(revision: &Signed) -> (PartHash, PartHash) {
    (revision.parts, revision.checksum)
}

/// Checks that parts make the state that their revision names by its checksum. Revisions with one
/// checksum count as saying the same, so one that lies would take the place of another.
async fn check_states(
    context: &Context,
    owner: &Owner,
    revisions: impl Iterator<Item = &(Signed, Vec<PartRef>)>,
) -> Result<(), NodeError> {
    for (revision, parts) in revisions {
        let state = contents::state(context, owner, parts).await?;
        let found = contents::blocking(move || wire::checksum_of(&state)).await?;
        let (rev, expected) = (revision.id(), revision.checksum);
        if found != expected {
            return Err(SyncError::WrongChecksum { rev, expected, found }.into());
        }
    }
    Ok(())
}

/// Begins another epoch when a copy of this node has gone on in this one.
async fn leave_copies(
    context: &Context,
    shelf: &mut Shelf,
    offer: &Offer,
) -> Result<(), NodeError> {
    let old = context.identity.actor();
    if shelf.shared.replica.is_cloned(offer, old) {
        context.identity.begin_epoch(&context.store).await?;
        shelf.shared.replica.leave(old, &author(context));
    }
    Ok(())
}

/// The parts of a revision: those of its list, or of a revision here that has the same.
async fn parts_of(
    context: &Context,
    shelf: &Shelf,
    revision: &Signed,
    lists: &Lists<'_>,
) -> Result<Vec<PartRef>, NodeError> {
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
    Err(SyncError::NoList { rev: revision.id() }.into())
}

/// The parts that are not here, each with an older one of its place.
async fn missing(
    context: &Context,
    shelf: &Shelf,
    gained: &[(Signed, Vec<PartRef>)],
) -> Result<Vec<Wanted>, NodeError> {
    let all: Vec<PartRef> = gained.iter().flat_map(|(_, parts)| parts.iter().cloned()).collect();
    let missing = context.store.missing_parts(&shelf.owner, &all).await?;
    if missing.is_empty() {
        return Ok(Vec::new());
    }
    let places = places(context, shelf).await?;
    let wanted = missing.iter().map(|part| {
        let base = places.get(&(part.kind, part.name.clone())).copied();
        (part.hash, Wanted { part: part.hash, base })
    });
    Ok(wanted.collect::<BTreeMap<_, _>>().into_values().collect())
}

/// What stands here in each place of the session.
async fn places(
    context: &Context,
    shelf: &Shelf,
) -> Result<HashMap<(PartKind, String), PartHash>, NodeError> {
    let Some(base) = &shelf.shared.base else { return Ok(HashMap::new()) };
    let (owner, session) = (&shelf.owner, base.revision.session);
    let held = context.store.fetch_content(owner, session, base.revision.id()).await?;
    let parts = held.into_iter().flat_map(|held| held.parts);
    Ok(parts.map(|part| ((part.kind, part.name), part.hash)).collect())
}

/// Makes the revisions visible, and the session, if it is new here.
async fn store(
    context: &Context,
    shelf: &mut Shelf,
    gained: Vec<(Signed, Vec<PartRef>)>,
    released: Vec<RevisionId>,
) -> Result<(), NodeError> {
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
    shelf.put_back(context, Along { create, contents, released, forget: false }).await
}

/// The row of a session that comes from elsewhere.
async fn new_row(context: &Context, owner: &Owner, current: &Signed) -> Result<Session, NodeError> {
    Ok(Session {
        id: current.session,
        name: free_name(context, owner, &current.name).await?,
        description: current.description.clone(),
        owner: owner.clone(),
        node: context.node,
        headed: false,
        lifecycle: Lifecycle::Recoverable,
        created_at: current.origin.created_at,
        updated_at: crate::clock::now(),
    })
}

/// The name, or one like it that no other session of the owner has.
async fn free_name(
    context: &Context,
    owner: &Owner,
    name: &SessionName,
) -> Result<SessionName, NodeError> {
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

async fn told(
    context: &Context,
    owner: &Owner,
    session: SessionId,
    changed: bool,
) -> Result<Taken, NodeError> {
    let shelf = Shelf::take(context, owner, session).await?;
    let replica = &shelf.shared.replica;
    let conflicts = replica.siblings().iter().map(|sibling| sibling.id()).collect();
    let (rev, lease) = (replica.current().map(Signed::id), shelf.shared.lease);
    Ok(Taken { missing: Vec::new(), changed, rev, conflicts, lease })
}
