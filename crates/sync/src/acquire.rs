//! Takes the peer lease of a shared session, so that it can run here.

use crate::context::Sync;
use crate::error::SyncError;
use crate::movement::{CALL_LIMIT, whole};
use crate::peer_lease::{PeerAnswer, ask_all, not_there};
use crate::peers;
use crate::pull::{pull, pull_held};
use crate::shelf::{Shelf, holder_elsewhere, record_peer_lease};
use baton_api::sync::{HandedView, Handing, PeerLeaseAnswer, PeerLeaseOutcome};
use baton_runtime::audit::{Action, Note};
use baton_runtime::table::Hold;
use baton_runtime::{Caller, Consent};
use baton_session::{NodeId, PeerLease, SessionId, Vector};
use baton_store::{Peer, clock};
use std::time::Duration;
use tokio::time::sleep;

/// How often a peer lease is asked for anew, because a peer knew a newer one.
const ROUNDS: usize = 4;
/// How long what keeps a session at a peer is given to end, when another one has handed it over.
const KEPT_PAUSE: Duration = Duration::from_secs(1);

/// Takes the peer lease of a session that is held here, if it is shared, from the node that has it. What that
/// one had is here when this returns. Returns how it came, if another node had it.
pub(crate) async fn acquire(
    context: &Sync,
    caller: &Caller,
    hold: &Hold,
    consent: Consent,
) -> Result<Option<HandedView>, SyncError> {
    let shelf = Shelf::load(context, &caller.owner, hold.id()).await?;
    if shelf.is_new() {
        return Ok(None);
    }
    let _asking = hold.ask();
    let known = shelf.shared.peer_lease;
    let holder = holder_elsewhere(context, known).await?;
    let vector = shelf.vector();
    let acquiring = Acquiring { context, caller, hold, known, holder, vector };
    match consent {
        Consent::Asked => acquiring.run().await,
        Consent::IfFree => acquiring.keep().await.map(|()| None),
    }
}

/// Brings what the peer that has a session saved of it; its browser runs on. Returns whether there is such
/// a peer, and it answered.
pub(crate) async fn look_at_holder(
    context: &Sync,
    caller: &Caller,
    session: SessionId,
) -> Result<bool, SyncError> {
    let shelf = Shelf::load(context, &caller.owner, session).await?;
    let Some(holder) = holder_elsewhere(context, shelf.shared.peer_lease).await? else {
        return Ok(false);
    };
    let (peer, session) = (holder.to_string(), session.to_string());
    let pulled = whole(|| pull(context, caller, &peer, &session, CALL_LIMIT));
    if let Err(error) = Box::pin(pulled).await {
        tracing::info!(%session, %error, "what its holder saved of a session did not come");
        return Ok(false);
    }
    Ok(true)
}

/// A peer lease on its way.
struct Acquiring<'a> {
    context: &'a Sync,
    caller: &'a Caller,
    hold: &'a Hold,
    /// The peer lease that counted here before.
    known: Option<PeerLease>,
    /// Who held the session, as far as this node knew; none when it was this one.
    holder: Option<NodeId>,
    /// How far the session had come here.
    vector: Vector,
}

impl Acquiring<'_> {
    async fn run(self) -> Result<Option<HandedView>, SyncError> {
        let peers = peers::confirmed(self.context, &self.caller.owner).await?;
        let mut peer_lease = PeerLease::after(self.known, self.context.node, clock::now());
        let mut handed = None;
        for round in 1..=ROUNDS {
            let said = self.ask(&peers, peer_lease).await;
            let newest = said.iter().filter_map(|(_, answer)| answer.as_ref().ok()?.peer_lease);
            let newer = newest
                .filter(|told| told.supersedes(&peer_lease) && told.is_plausible(self.known))
                .max_by_key(|one| one.term);
            let mut kept = None;
            for said in said {
                match self.hear(said).await {
                    Err(error @ SyncError::Kept { .. }) => kept = Some(error),
                    heard => handed = heard?.or(handed),
                }
            }
            match kept {
                // Another one has closed it for us already: what keeps this one is waited for.
                Some(_) if handed.is_some() && round < ROUNDS => sleep(KEPT_PAUSE).await,
                Some(kept) => return Err(kept),
                None if newer.is_none() && self.record_peer_lease(peer_lease).await? => {
                    return self.take_from_nobody(&peers).await.map(|left| left.or(handed));
                }
                None => {}
            }
            let known = self.shelf().await?.shared.peer_lease;
            peer_lease = PeerLease::after(newer.or(known), self.context.node, clock::now());
        }
        Err(SyncError::Contended { session: self.hold.id() })
    }

    /// Asks peers for the session. The known holder is asked last, and only if no other peer keeps it: it
    /// would close a browser for nothing. Whether it is there is seen meanwhile, so that several that are not
    /// cost no more than one.
    async fn ask(&self, peers: &[Peer], peer_lease: PeerLease) -> Vec<PeerAnswer> {
        let (session, is_holder) = (self.hold.id(), |peer: &Peer| self.holder == Some(peer.node));
        let (holder, others): (Vec<Peer>, Vec<Peer>) = peers.iter().cloned().partition(is_holder);
        let looked: &[Peer] = if others.is_empty() { &[] } else { &holder };
        let (mut said, gone) = tokio::join!(
            ask_all(self.context, &others, session, peer_lease),
            not_there(self.context, looked),
        );
        if said.iter().any(|(_, answer)| answer.as_ref().is_ok_and(is_kept)) {
            return said;
        }
        if gone.is_empty() {
            said.extend(ask_all(self.context, &holder, session, peer_lease).await);
        } else {
            said.extend(gone);
        }
        said
    }

    /// Sees to it that the session is still this node's, as it was when the node ended, and disturbs no peer.
    /// A peer that took it meanwhile keeps it, and one that does not answer may have taken it.
    async fn keep(self) -> Result<(), SyncError> {
        let peers = peers::confirmed(self.context, &self.caller.owner).await?;
        let own = self.known.filter(|known| known.node == self.context.node);
        let (Some(peer_lease), None) = (own, self.holder) else {
            let is_holder = |peer: &&Peer| self.holder == Some(peer.node);
            let name = peers.iter().find(is_holder).map(|peer| peer.name.clone());
            let name = name.unwrap_or_else(|| "that had it last".to_owned());
            return Err(SyncError::Kept { name, why: "it is not this node's any more".into() });
        };
        // An attempt before this one may have given it back.
        let held = PeerLease { released: false, ..peer_lease };
        for (peer, answer) in ask_all(self.context, &peers, self.hold.id(), held).await {
            let answer = answer?;
            if let PeerLeaseOutcome::Kept(why) = answer.outcome {
                return Err(SyncError::Kept { name: peer.name, why });
            }
            let is_theirs =
                |told: &PeerLease| told.supersedes(&peer_lease) && told.node != peer_lease.node;
            if let Some(told) = answer.peer_lease.filter(is_theirs) {
                self.record_peer_lease(told).await?;
                let why = "it was taken over there".to_owned();
                return Err(SyncError::Kept { name: peer.name, why });
            }
        }
        if peer_lease.released {
            self.record_peer_lease(PeerLease::after(
                Some(peer_lease),
                self.context.node,
                clock::now(),
            ))
            .await?;
        }
        Ok(())
    }

    async fn record_peer_lease(&self, peer_lease: PeerLease) -> Result<bool, SyncError> {
        record_peer_lease(self.context, &self.caller.owner, self.hold.id(), peer_lease).await
    }

    async fn shelf(&self) -> Result<Shelf, SyncError> {
        Shelf::load(self.context, &self.caller.owner, self.hold.id()).await
    }

    /// Takes the session over from a holder that is no peer any more, or has no address.
    async fn take_from_nobody(&self, peers: &[Peer]) -> Result<Option<HandedView>, SyncError> {
        let gone = self.holder.filter(|node| !peers.iter().any(|peer| peer.node == *node));
        let Some(node) = gone else { return Ok(None) };
        let known = self.context.store.list_peers(&self.caller.owner).await?;
        let name = known.into_iter().find(|peer| peer.node == node).map(|peer| peer.name);
        self.take_over(node, name.unwrap_or_else(|| node.to_string())).await.map(Some)
    }

    /// Does what the answer of a peer asks for, and returns a view when the session came from that peer.
    async fn hear(&self, (peer, answer): PeerAnswer) -> Result<Option<HandedView>, SyncError> {
        let held = self.holder == Some(peer.node);
        let answer = match answer {
            Ok(answer) => answer,
            Err(SyncError::Unreachable { .. }) if held => {
                return self.take_over(peer.node, peer.name).await.map(Some);
            }
            // It may be at work on it, so silence is no reason to start a second browser.
            Err(SyncError::Silent { name }) if held => {
                return Err(SyncError::HeldInDoubt { name, does: "says nothing" });
            }
            Err(SyncError::BrokeOff { name, .. }) if held => {
                return Err(SyncError::HeldInDoubt { name, does: "breaks off" });
            }
            Err(error) if held => return Err(error),
            Err(error) => {
                tracing::info!(peer = peer.name, %error, "a peer was not asked for a session");
                return Ok(None);
            }
        };
        if let PeerLeaseOutcome::Kept(why) = answer.outcome {
            return Err(SyncError::Kept { name: peer.name, why });
        }
        let was_there = answer.outcome == PeerLeaseOutcome::HandedOver;
        if !self.vector.covers(&answer.vector)
            && let Err(error) = self.bring(&peer).await
        {
            if held || was_there {
                return Err(error);
            }
            tracing::warn!(peer = peer.name, %error, "what a peer has of a session did not come");
        }
        let how = Handing::HandedOver;
        Ok(was_there.then_some(HandedView { node_id: peer.node, name: peer.name, how }))
    }

    async fn bring(&self, peer: &Peer) -> Result<(), SyncError> {
        let (context, caller, hold) = (self.context, self.caller, self.hold);
        let peer = peer.node.to_string();
        Box::pin(whole(|| pull_held(context, caller, &peer, hold, CALL_LIMIT))).await
    }

    async fn take_over(&self, node_id: NodeId, name: String) -> Result<HandedView, SyncError> {
        let session = self.hold.id();
        tracing::warn!(%session, %node_id, "took over: the holder is gone");
        let (actor, owner) = (&self.caller.actor, &self.caller.owner);
        let note = Note::new(actor, owner, Action::TakeOver, session.to_string());
        let view = HandedView { node_id, name, how: Handing::TakenOver };
        note.with("peer", node_id.to_string()).end(&self.context.store, Ok(view)).await
    }
}

fn is_kept(answer: &PeerLeaseAnswer) -> bool {
    matches!(answer.outcome, PeerLeaseOutcome::Kept(_))
}
