//! A movement of a session between here and a peer: how a pull and a push begin, what is reported of them in
//! the end, and the push.

use crate::context::Sync;
use crate::damage::DamageError;
use crate::error::SyncError;
use crate::given::{exchange_for, fetch, given};
use crate::parcels::batches;
use crate::remote::Remote;
use crate::{peer_lease, peers};
use baton_api::sync::{Exchange, Movement, MovementOutcome, Parcel, Taken, Wanted};
use baton_runtime::audit::{Action, Note};
use baton_runtime::{Actor, Caller, RuntimeError};
use baton_session::revision::PartList;
use baton_session::{NodeId, Owner, PartHash, PartRef, PeerLimits, SessionId, SessionName, View};
use baton_store::{Peer, StoreError};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// How long one call goes on at most: shorter than a caller waits for an answer.
pub const CALL_LIMIT: Duration = Duration::from_secs(80);

/// A session on its way.
pub(super) struct OpenMovement {
    pub(super) session: SessionId,
    pub(super) remote: Remote,
    /// Whether the peer may have had something of it before.
    pub(super) may_have: bool,
    /// Parts that moved.
    pub(super) parts: u64,
    peer: Peer,
    time: Time,
    name: Option<SessionName>,
}

/// How long a call goes on.
struct Time {
    /// How long parts move, once it is known which.
    limit: Duration,
    /// When that is over; none before it is known which.
    until: Option<Instant>,
    /// When the call has gone on for long enough, whatever has moved.
    latest: Instant,
}

impl Time {
    fn new(limit: Duration) -> Self {
        Self { limit, until: None, latest: Instant::now() + CALL_LIMIT }
    }
}

impl OpenMovement {
    /// It is known which parts move: their time begins, unless it has.
    pub(super) fn begins_to_move(&mut self) {
        let until = (Instant::now() + self.time.limit).min(self.time.latest);
        self.time.until.get_or_insert(until);
    }

    /// Whether time has run out.
    pub(super) fn is_late(&self) -> bool {
        self.is_late_after(self.parts)
    }

    /// Whether time has run out when so many parts are under way. Something moves in every call that has not
    /// gone on for as long as any may, or one that is called again with little time would never end.
    pub(super) fn is_late_after(&self, parts: u64) -> bool {
        let now = Instant::now();
        let is_over = parts > 0 && self.time.until.is_some_and(|until| now >= until);
        is_over || now >= self.time.latest
    }

    /// The node that is asked.
    pub(super) fn node(&self) -> NodeId {
        self.peer.node
    }

    /// How much goes there, and comes from there.
    pub(super) fn limits(&self) -> &PeerLimits {
        &self.peer.limits
    }

    /// Notes that the peer may hold something of it: a push of which the answer is lost has been taken all
    /// the same.
    pub(super) async fn sets_out(&self, context: &Sync) -> Result<(), SyncError> {
        peers::may_hold(context, &self.peer, self.session).await
    }

    /// What is given from here on is a movement of its own.
    pub(super) async fn begins_to_give(&self, context: &Sync) {
        context.own.given.start_movement(&self.peer, self.session).await;
    }

    /// Notes that the peer is given something of it: before that leaves.
    pub(super) async fn gives(&self, context: &Sync, actor: &Actor) -> Result<(), SyncError> {
        given(context, actor, &self.peer, self.session).await
    }

    /// Checks that what came is about the session that was asked for.
    pub(super) fn expect_session(&self, exchange: &Exchange) -> Result<(), SyncError> {
        if exchange.offer.session == self.session {
            return Ok(());
        }
        let (expected, found) = (self.session, exchange.offer.session);
        let refused = baton_session::revision::Refused::OtherSession { expected, found };
        Err(SyncError::from(refused))
    }

    /// Says of a part that is not what it is said to be who gave it.
    pub(super) fn blame(&self, error: SyncError) -> SyncError {
        match error {
            SyncError::Runtime(RuntimeError::Store(StoreError::PartRefused {
                kind,
                name: place,
                why,
            })) => {
                let why = format!("the {kind} part {place:?}: {why}");
                let name = self.peer.name.clone();
                SyncError::from(DamageError::OtherPart { name, why })
            }
            error => error,
        }
    }
}

/// Finds the peer and the session: by its id, or by a name that it has here or there. That it failed is
/// noted.
pub(super) async fn open(
    context: &Sync,
    caller: &Caller,
    action: Action,
    (peer, session): (&str, &str),
    limit: Duration,
) -> Result<OpenMovement, SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, action, session);
    let peer = match peers::find_confirmed(context, &caller.owner, peer).await {
        Ok(peer) => peer,
        Err(error) => return Err(note.with("peer", peer).failed(&context.store, error).await),
    };
    let note = note.with("peer", peer.node.to_string());
    match set_out(context, caller, peer, session, Time::new(limit)).await {
        Ok(way) => Ok(way),
        Err(error) => Err(note.failed(&context.store, error).await),
    }
}

async fn set_out(
    context: &Sync,
    caller: &Caller,
    peer: Peer,
    session: &str,
    time: Time,
) -> Result<OpenMovement, SyncError> {
    let remote = Remote::of(context, &peer).await?;
    let (id, name) = find(context, caller, &remote, session).await?;
    let may_have = peers::may_have(context, &peer, id).await?;
    Ok(OpenMovement { session: id, remote, may_have, parts: 0, peer, time, name })
}

async fn find(
    context: &Sync,
    caller: &Caller,
    remote: &Remote,
    reference: &str,
) -> Result<(SessionId, Option<SessionName>), SyncError> {
    match context.store.find_session(&caller.owner, reference).await {
        Ok(found) => return Ok((found.id, Some(found.name))),
        Err(StoreError::SessionNotFound { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    if let Ok(id) = reference.parse() {
        return Ok((id, None));
    }
    let index = remote.index().await?;
    let named = index.sessions.iter().find(|one| one.name.as_str() == reference && !one.deleted);
    match named {
        Some(found) => Ok((found.id, Some(found.name.clone()))),
        None => Err(StoreError::SessionNotFound { reference: reference.to_owned() }.into()),
    }
}

/// Notes how it went, and returns it.
pub(super) async fn end(
    context: &Sync,
    caller: &Caller,
    way: OpenMovement,
    action: Action,
    moved: Result<(Exchange, Taken), SyncError>,
) -> Result<Movement, SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, action, way.session.to_string());
    let note = note.with("peer", way.peer.node.to_string());
    let (exchange, taken) = match moved {
        Ok(moved) => moved,
        Err(error) => return Err(note.failed(&context.store, error).await),
    };
    let movement = movement(&way, &exchange, &taken)?;
    if movement.left == 0 {
        peers::seen(context, &way.peer, true).await?;
        peers::holds(context, &way.peer, &exchange.offer, taken.rev).await?;
        for told in [exchange.peer_lease, taken.peer_lease] {
            peer_lease::learn(context, &caller.owner, way.session, way.peer.node, told).await?;
        }
    }
    if movement.outcome == MovementOutcome::Unchanged {
        return Ok(movement);
    }
    let note = note.with("parts", movement.parts).with("bytes", movement.bytes);
    note.end(&context.store, Ok(movement)).await
}

fn movement(way: &OpenMovement, exchange: &Exchange, taken: &Taken) -> Result<Movement, SyncError> {
    let outcome = match () {
        () if !taken.missing.is_empty() => MovementOutcome::Unfinished,
        () if !taken.conflicts.is_empty() => MovementOutcome::Conflict,
        () if !taken.changed => MovementOutcome::Unchanged,
        () if exchange.offer.heads.iter().all(|head| head.deleted) => MovementOutcome::Deleted,
        () => MovementOutcome::Moved,
    };
    let current = exchange.offer.heads.iter().max_by_key(|head| head.modified_at);
    let name = way.name.clone().or_else(|| current.map(|head| head.name.clone()));
    let name = name.ok_or_else(|| SyncError::NotShared { session: way.session.to_string() })?;
    Ok(Movement {
        session_id: way.session,
        name,
        node_id: way.peer.node,
        outcome,
        rev: taken.rev,
        conflicts: taken.conflicts.clone(),
        parts: way.parts,
        bytes: way.remote.moved(),
        left: taken.missing.len() as u64,
    })
}

/// The parts that an exchange names, by hash.
pub(super) fn part_refs(exchange: &Exchange) -> HashMap<PartHash, PartRef> {
    let parts = exchange.lists.iter().flat_map(PartList::parts);
    parts.map(|part| (part.hash, part)).collect()
}

/// Calls a movement again until it is finished.
pub(super) async fn whole<F>(movement: impl Fn() -> F) -> Result<(), SyncError>
where
    F: Future<Output = Result<baton_api::sync::Movement, SyncError>>,
{
    while movement().await?.outcome == MovementOutcome::Unfinished {}
    Ok(())
}

/// Pushes a session to a peer: what it has here is there when this returns. After `limit`, and at
/// least one body of parts, it answers that there is more, and goes on where it stopped when called again.
pub async fn push(
    context: &Sync,
    caller: &Caller,
    peer: &str,
    session: &str,
    limit: Duration,
) -> Result<Movement, SyncError> {
    let mut way = open(context, caller, Action::Push, (peer, session), limit).await?;
    let pushed = run(context, caller, &mut way).await;
    end(context, caller, way, Action::Push, pushed).await
}

async fn run(
    context: &Sync,
    caller: &Caller,
    way: &mut OpenMovement,
) -> Result<(Exchange, Taken), SyncError> {
    let owner = &caller.owner;
    let mut view = way.limits().give.clone();
    let (session, may_have) = (way.session, way.may_have);
    let mut exchange = exchange_for(context, owner, session, &view, may_have).await?;
    way.sets_out(context).await?;
    way.begins_to_give(context).await;
    loop {
        let taken = way.remote.offer(&exchange).await?;
        way.begins_to_move();
        if let Some(takes) = &taken.takes {
            // It takes less than this; and what is in both is within what it takes.
            if view.meet(takes) == view {
                return Err(SyncError::TooMuch { session: way.session, view: takes.clone() });
            }
            view = view.meet(takes);
            exchange = exchange_for(context, owner, session, &view, may_have).await?;
            continue;
        }
        if taken.missing.is_empty() || way.is_late() {
            return Ok((exchange, taken));
        }
        way.gives(context, &caller.actor).await?;
        give(context, owner, way, (&view, &exchange), taken.missing).await?;
    }
}

/// Gives parts, while those behind them are read from the disk.
async fn give(
    context: &Sync,
    owner: &Owner,
    way: &mut OpenMovement,
    (view, exchange): (&View, &Exchange),
    missing: Vec<Wanted>,
) -> Result<(), SyncError> {
    let session = way.session;
    let mut before: Vec<Parcel> = Vec::new();
    for batch in batches(missing, &part_refs(exchange)) {
        if way.is_late() {
            break;
        }
        let given = async {
            let before = std::mem::take(&mut before);
            if before.is_empty() { Ok(()) } else { way.remote.give(session, before).await }
        };
        let (given, read) = tokio::join!(given, fetch(context, owner, session, view, &batch));
        given?;
        before = read?;
        way.parts += batch.len() as u64;
    }
    if before.is_empty() { Ok(()) } else { way.remote.give(session, before).await }
}
