//! Takes what another node offers of a session, be it pulled or pushed here.
//!
//! The one idea: first everything is checked, then the parts come and lie aside, and only when all of them
//! are here one transaction makes the revisions visible. Until then nothing has changed, and what lies aside
//! is not fetched again. Webhooks hear how the session is then, beside how it was before.

mod parts;

use crate::contents::{AtHand, is_unreadable};
use crate::context::Sync;
use crate::error::SyncError;
use crate::reconcile::{aside, reconcile};
use crate::shelf::{ATTEMPTS, Along, Shelf, author, is_race, row};
use crate::webhooks::{Event, News};
use crate::working::{advance, current, keep_unsaved};
use crate::{peer_lease, peers};
use baton_api::sync::{Exchange, Taken, Wanted};
use baton_runtime::audit::{Action, Note};
use baton_runtime::table::Hold;
use baton_runtime::{Caller, RuntimeError};
use baton_session::revision::{PartList, Refused};
use baton_session::{
    Lifecycle, NodeId, Offer, Owner, PartHash, PartRef, RevisionId, Session, SessionId,
    SessionName, Signed,
};
use baton_store::{NewSnapshot, Peer, RevisionContent, StoreError};
use parts::{check, check_states, damaged, missing, parts_of};
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

/// How long it waits for other operations on the session.
const HOLD_LIMIT: Duration = Duration::from_mins(1);

/// The lists of an exchange, by their hash.
type Lists<'a> = HashMap<PartHash, &'a PartList>;

/// Takes an exchange that the node `from` offers, or says which parts have to come first. All or nothing.
/// Parts that came for it just now may be at hand. The session may be held by the caller.
pub(super) async fn receive(
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
        return Ok(Taken {
            missing,
            changed: false,
            rev: None,
            conflicts,
            peer_lease: None,
            takes,
        });
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
                let (rev, conflicts, peer_lease) = (None, Vec::new(), None);
                return Ok(Taken {
                    missing,
                    changed: false,
                    rev,
                    conflicts,
                    peer_lease,
                    takes: None,
                });
            }
            Ok(Attempt::Known) => {
                finish_deletion(context, owner, hold).await?;
                return answer(context, owner, session, false).await;
            }
            Ok(Attempt::Stored(before)) => {
                reconcile(context, owner, session).await?;
                advance(context, owner, hold).await?;
                tell(context, owner, session, &before, from).await;
                return answer(context, owner, session, true).await;
            }
        }
    }
    Err(SyncError::Contended { session })
}

/// Deletes a session here that is known to be deleted: its files could not be removed before.
async fn finish_deletion(context: &Sync, owner: &Owner, hold: &Hold) -> Result<(), SyncError> {
    let shelf = Shelf::load(context, owner, hold.id()).await?;
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
    let mut shelf = Shelf::load(context, owner, offer.session).await?;
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

async fn answer(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    changed: bool,
) -> Result<Taken, SyncError> {
    let shelf = Shelf::load(context, owner, session).await?;
    let replica = &shelf.shared.replica;
    let conflicts = replica.siblings().iter().map(|sibling| sibling.id()).collect();
    let (rev, peer_lease) = (replica.current().map(Signed::id), shelf.shared.peer_lease);
    Ok(Taken { missing: Vec::new(), changed, rev, conflicts, peer_lease, takes: None })
}

/// Makes the revisions visible, and the session, if it is new here.
async fn store(
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

/// How a session is here.
struct Standing {
    row: Option<Session>,
    current: Option<RevisionId>,
    siblings: BTreeSet<RevisionId>,
}

impl Standing {
    async fn of(context: &Sync, shelf: &Shelf) -> Result<Self, SyncError> {
        let replica = &shelf.shared.replica;
        Ok(Self {
            row: row(context, &shelf.owner, replica.session()).await?,
            current: current(context, shelf).map(Signed::id),
            siblings: replica.siblings().iter().map(|sibling| sibling.id()).collect(),
        })
    }

    /// What happened since `before`. Of one that is gone nothing is said.
    fn since(&self, before: &Self) -> Vec<Event> {
        let mut events = Vec::new();
        if before.row.is_none() {
            events.push(Event::New);
        } else if self.current != before.current {
            events.push(Event::Changed);
        }
        if !self.siblings.is_subset(&before.siblings) {
            events.push(Event::Conflict);
        }
        events
    }
}

/// Tells webhooks what came from the node `from`. It is stored already, so whatever goes wrong here
/// fails nothing.
async fn tell(context: &Sync, owner: &Owner, session: SessionId, before: &Standing, from: NodeId) {
    if from == context.node || !context.own.webhooks.are_for(owner) {
        return;
    }
    if let Err(error) = tell_of(context, owner, session, before, from).await {
        tracing::warn!(%session, %error, "webhooks were not told what came");
    }
}

async fn tell_of(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    before: &Standing,
    from: NodeId,
) -> Result<(), SyncError> {
    let shelf = Shelf::load(context, owner, session).await?;
    let now = Standing::of(context, &shelf).await?;
    let events = now.since(before);
    let Some(row) = now.row else { return Ok(()) };
    for event in events {
        let (name, rev, node) = (row.name.clone(), now.current, context.node);
        context.own.webhooks.tell(owner, &News { event, session, name, rev, node, from });
    }
    Ok(())
}

/// Takes what `peer` offers of a session; what is refused is noted, with the reason.
pub async fn take_from(
    context: &Sync,
    caller: &Caller,
    peer: &Peer,
    session: SessionId,
    exchange: &Exchange,
) -> Result<Taken, SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::Receive, session.to_string());
    let note = note.with("peer", peer.node.to_string());
    let taken = match expect(session, exchange) {
        Ok(()) => {
            receive(context, &caller.owner, peer.node, exchange, &mut AtHand::nothing(), None).await
        }
        Err(error) => Err(error),
    };
    let taken = match taken {
        Ok(taken) => taken,
        Err(error) => return Err(note.failed(&context.store, error).await),
    };
    if !taken.missing.is_empty() || taken.takes.is_some() {
        return Ok(taken);
    }
    peers::seen(context, peer, true).await?;
    peer_lease::learn(context, &caller.owner, session, peer.node, exchange.peer_lease).await?;
    peers::holds(context, peer, &exchange.offer, taken.rev).await?;
    if !taken.changed {
        return Ok(taken);
    }
    note.end(&context.store, Ok(taken)).await
}

fn expect(session: SessionId, exchange: &Exchange) -> Result<(), SyncError> {
    let found = exchange.offer.session;
    if found == session {
        return Ok(());
    }
    Err(SyncError::from(Refused::OtherSession { expected: session, found }))
}
