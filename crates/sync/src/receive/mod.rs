//! Takes what another node offers of a session.
//!
//! The one idea: first everything is checked, then the parts come and lie aside, and only when all of
//! them are here one transaction makes the revisions visible. Until then nothing has changed, and what
//! lies aside is not fetched again.

mod arrive;
mod news;
mod parts;

use super::at_hand::AtHand;
use super::contents::is_unreadable;
use super::error::SyncError;
use super::peers;
use super::reconcile::reconcile;
use super::shelf::{ATTEMPTS, Shelf, author, is_race};
use super::working::{advance, keep_unsaved, row};
use crate::context::Sync;
use arrive::store;
use baton_api::sync::{Exchange, Taken, Wanted};
use baton_runtime::RuntimeError;
use baton_runtime::table::Hold;
use baton_session::revision::PartList;
use baton_session::{NodeId, Offer, Owner, PartHash, SessionId, Signed};
use news::Standing;
use parts::{check, check_states, damaged, missing, parts_of};
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// How long it waits for other operations on the session.
const HOLD_LIMIT: Duration = Duration::from_mins(1);

/// The lists of an exchange, by their hash.
type Lists<'a> = HashMap<PartHash, &'a PartList>;

/// Takes an exchange that the node `from` offers, or says which parts have to come first. All or nothing. Parts that came for it
/// just now may be at hand. The session may be held by the caller.
pub(super) async fn take(
    context: &Sync,
    owner: &Owner,
    from: NodeId,
    exchange: &Exchange,
    at_hand: &mut AtHand,
    hold: Option<&Hold>,
) -> Result<Taken, SyncError> {
    let session = exchange.offer.session;
    let lists = check(context, exchange)?;
    let takes = peers::limits_of(context, owner, from).await?.take;
    if exchange.offer.whole().any(|offered| !offered.is_within(&takes)) {
        let (missing, conflicts, takes) = (Vec::new(), Vec::new(), Some(takes));
        return Ok(Taken { missing, changed: false, rev: None, conflicts, lease: None, takes });
    }
    let own;
    let hold = if let Some(hold) = hold {
        hold
    } else {
        own = context.hold(session, "received", HOLD_LIMIT).await?;
        &own
    };
    let mut kept = false;
    for _ in 0..ATTEMPTS {
        match attempt(context, owner, exchange, &lists, kept, at_hand).await {
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
                return Ok(Taken { missing, changed: false, rev, conflicts, lease, takes: None });
            }
            Ok(Attempt::Known) => {
                finish_deletion(context, owner, hold).await?;
                return told(context, owner, session, false).await;
            }
            Ok(Attempt::Stored(before)) => {
                reconcile(context, owner, session).await?;
                advance(context, owner, hold).await?;
                news::tell(context, owner, session, &before, from).await;
                return told(context, owner, session, true).await;
            }
        }
    }
    Err(SyncError::Contended { session })
}

/// Deletes a session here that is known to be deleted: its files could not be removed before.
async fn finish_deletion(context: &Sync, owner: &Owner, hold: &Hold) -> Result<(), SyncError> {
    let shelf = Shelf::take(context, owner, hold.id()).await?;
    if !shelf.shared.replica.current().is_some_and(|current| current.deleted) {
        return Ok(());
    }
    let Some(row) = row(context, owner, hold.id()).await? else { return Ok(()) };
    keep_unsaved(context, &row).await?;
    advance(context, owner, hold).await
}

/// What became of an attempt to store what is offered.
enum Attempt {
    /// Nothing in it is new.
    Known,
    /// It is on disk; how the session stood before.
    Stored(Box<Standing>),
    /// Nothing was stored: these parts have to come first, those among them that are damaged here.
    Missing(Vec<Wanted>),
    /// Nothing was stored: what was captured here and not saved has to be kept first.
    Ready,
}

/// Stores what is offered; or nothing, and returns what has to be done first. `kept` says whether what
/// was not saved here is a revision by now.
async fn attempt(
    context: &Sync,
    owner: &Owner,
    exchange: &Exchange,
    lists: &Lists<'_>,
    kept: bool,
    at_hand: &mut AtHand,
) -> Result<Attempt, SyncError> {
    let offer = &exchange.offer;
    let mut shelf = Shelf::take(context, owner, offer.session).await?;
    let stood = Standing::of(context, &shelf).await?;
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
        return match check_states(context, owner, new, at_hand).await {
            Ok(()) => Ok(Attempt::Ready),
            Err(SyncError::Runtime(RuntimeError::Store(error))) if is_unreadable(&error) => {
                let hurt = damaged(context, owner, &gained).await?;
                if hurt.is_empty() { Err(error.into()) } else { Ok(Attempt::Missing(hurt)) }
            }
            Err(error) => Err(error),
        };
    }
    let released = shelf.released(&before);
    store(context, &mut shelf, gained, released).await?;
    Ok(Attempt::Stored(Box::new(stood)))
}

/// The list of a revision's parts, and the checksum that their state should have.
fn said(revision: &Signed) -> (PartHash, PartHash) {
    (revision.parts, revision.checksum)
}

/// Begins another epoch when a copy of this node has gone on in this one.
async fn leave_copies(context: &Sync, shelf: &mut Shelf, offer: &Offer) -> Result<(), SyncError> {
    let old = context.own.identity.actor();
    if shelf.shared.replica.is_cloned(offer, old) {
        context.own.identity.begin_epoch(&context.store).await?;
        shelf.shared.replica.leave(old, &author(context));
    }
    Ok(())
}

async fn told(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    changed: bool,
) -> Result<Taken, SyncError> {
    let shelf = Shelf::take(context, owner, session).await?;
    let replica = &shelf.shared.replica;
    let conflicts = replica.siblings().iter().map(|sibling| sibling.id()).collect();
    let (rev, lease) = (replica.current().map(Signed::id), shelf.shared.lease);
    Ok(Taken { missing: Vec::new(), changed, rev, conflicts, lease, takes: None })
}
