//! Takes the lease of a shared session, so that it can run here.

use super::note::{holder_elsewhere, learn, record};
use crate::audit::{Action, Note};
use crate::auth::Caller;
use crate::live::LiveError;
use crate::sync::remote::Remote;
use crate::sync::shelf::Shelf;
use crate::sync::{CALL_LIMIT, SyncError, auto, peers, pull};
use crate::{Context, NodeError, clock};
use baton_api::sync::{HandedView, Handing, LeaseAnswer, LeaseOutcome};
use baton_session::{Lease, Lifecycle, NodeId, SessionId, Vector};
use baton_store::Peer;
use futures_util::{StreamExt as _, stream};

/// How many peers are asked at once.
const ASKED_AT_ONCE: usize = 8;
/// How often a lease is asked for anew, because a peer knew a newer one.
const ROUNDS: usize = 4;

/// A peer, and what it said.
type Said = (Peer, Result<LeaseAnswer, NodeError>);

/// Takes the lease of a session, if it is shared, from whoever holds it. What the holder had is here
/// when this returns. Tells how it came, if somebody else held it.
pub(crate) async fn take(
    context: &Context,
    caller: &Caller,
    reference: &str,
) -> Result<Option<HandedView>, NodeError> {
    let session = context.find(&caller.owner, reference).await?;
    let shelf = Shelf::take(context, &caller.owner, session.id).await?;
    if session.lifecycle == Lifecycle::Active || shelf.is_new() {
        return Ok(None);
    }
    let asked = context.asking.begin(session.id);
    let _asked = asked.ok_or(LiveError::Busy { id: session.id, doing: "resumed" })?;
    let known = shelf.shared.lease;
    let holder = holder_elsewhere(context, known).await?;
    let vector = shelf.vector();
    let taking = Taking { context, caller, session: session.id, known, holder, vector };
    taking.run().await
}

/// A lease on its way.
struct Taking<'a> {
    context: &'a Context,
    caller: &'a Caller,
    session: SessionId,
    /// The lease that counted here before.
    known: Option<Lease>,
    /// Who held the session, as far as this node knew; none when it was this one.
    holder: Option<NodeId>,
    /// How far the session had come here.
    vector: Vector,
}

impl Taking<'_> {
    async fn run(self) -> Result<Option<HandedView>, NodeError> {
        let peers = peers::confirmed(self.context, &self.caller.owner).await?;
        let mut lease = Lease::after(self.known, self.context.node, clock::now());
        let mut handed = None;
        for _ in 0..ROUNDS {
            let said = ask_all(self.context, &peers, self.session, lease).await;
            let newest = said.iter().filter_map(|(_, answer)| answer.as_ref().ok()?.lease);
            let newer = newest
                .filter(|told| told.supersedes(&lease) && told.is_plausible(self.known))
                .max_by_key(|one| one.term);
            for said in said {
                handed = self.hear(said).await?.or(handed);
            }
            let owner = &self.caller.owner;
            if newer.is_none() && record(self.context, owner, self.session, lease).await? {
                return self.take_from_nobody(&peers).await.map(|left| left.or(handed));
            }
            let known = Shelf::take(self.context, owner, self.session).await?.shared.lease;
            lease = Lease::after(newer.or(known), self.context.node, clock::now());
        }
        Err(SyncError::Contended { session: self.session }.into())
    }

    /// Takes the session over from a holder that is no peer any more, or has no address.
    async fn take_from_nobody(&self, peers: &[Peer]) -> Result<Option<HandedView>, NodeError> {
        let gone = self.holder.filter(|node| !peers.iter().any(|peer| peer.node == *node));
        let Some(node) = gone else { return Ok(None) };
        let known = self.context.store.list_peers(&self.caller.owner).await?;
        let name = known.into_iter().find(|peer| peer.node == node).map(|peer| peer.name);
        self.take_over(node, name.unwrap_or_else(|| node.to_string())).await.map(Some)
    }

    /// Does what the answer of a peer asks for, and tells when the session came from it.
    async fn hear(&self, (peer, answer): Said) -> Result<Option<HandedView>, NodeError> {
        let held = self.holder == Some(peer.node);
        let answer = match answer {
            Ok(answer) => answer,
            Err(NodeError::Sync(SyncError::Unreachable { .. })) if held => {
                return self.take_over(peer.node, peer.name).await.map(Some);
            }
            Err(error) if held => return Err(error),
            Err(error) => {
                tracing::info!(peer = peer.name, %error, "a peer was not asked for a session");
                return Ok(None);
            }
        };
        if let LeaseOutcome::Kept(why) = answer.outcome {
            return Err(SyncError::Kept { name: peer.name, why }.into());
        }
        let was_there = answer.outcome == LeaseOutcome::HandedOver;
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

    async fn bring(&self, peer: &Peer) -> Result<(), NodeError> {
        let (peer, session) = (peer.node.to_string(), self.session.to_string());
        Box::pin(auto::whole(|| pull(self.context, self.caller, &peer, &session, CALL_LIMIT))).await
    }

    async fn take_over(&self, node_id: NodeId, name: String) -> Result<HandedView, NodeError> {
        tracing::warn!(session = %self.session, %node_id, "took over: the holder is gone");
        let (actor, owner) = (&self.caller.actor, &self.caller.owner);
        let note = Note::new(actor, owner, Action::TakeOver, self.session.to_string());
        let view = HandedView { node_id, name, how: Handing::TakenOver };
        note.with("peer", node_id.to_string()).end(&self.context.store, Ok(view)).await
    }
}

/// Tells peers that a session still runs here, and hears whether somebody took it over meanwhile.
pub(super) async fn renew(
    context: &Context,
    caller: &Caller,
    session: SessionId,
) -> Result<(), NodeError> {
    let shelf = Shelf::take(context, &caller.owner, session).await?;
    let Some(mut lease) = shelf.shared.lease else { return Ok(()) };
    if holder_elsewhere(context, Some(lease)).await?.is_some() {
        return super::give::give_up(context, &caller.owner, session).await;
    }
    if lease.node != context.node || lease.released {
        lease = Lease::after(Some(lease), context.node, clock::now());
        record(context, &caller.owner, session, lease).await?;
    }
    let peers = peers::confirmed(context, &caller.owner).await?;
    for (peer, answer) in ask_all(context, &peers, session, lease).await {
        let told = answer.ok().and_then(|answer| answer.lease);
        learn(context, &caller.owner, session, peer.node, told).await?;
    }
    Ok(())
}

async fn ask_all(context: &Context, peers: &[Peer], session: SessionId, lease: Lease) -> Vec<Said> {
    let asked = stream::iter(peers.to_vec()).map(|peer| async move {
        let answer = async { Remote::of(context, &peer).await?.lease(session, lease).await };
        let answer = answer.await;
        (peer, answer)
    });
    asked.buffer_unordered(ASKED_AT_ONCE).collect().await
}
