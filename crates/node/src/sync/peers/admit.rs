//! Admits a node that asks us with an API key of ours, or with a token of the provider.
//!
//! The one idea: the first node that shows a key, or a token of a client, is the one that has it for
//! good. One that turns up with another node was passed on, or stolen. A node that was registered here
//! waits until a person has confirmed it, whatever it shows.

use super::super::SyncError;
use super::shown;
use crate::audit::{Action, Note};
use crate::auth::Caller;
use crate::{Context, NodeError, clock};
use baton_api::sync::NodeCard;
use baton_session::peer::{AuthMethod, PeerLimits, PeerState};
use baton_store::{Peer, StoreError};

/// The peer behind a request that was signed by `card`'s node. One that is unknown is registered:
/// whoever gave it the key has let it in. One that is pending is refused.
pub(crate) async fn admit(
    context: &Context,
    caller: &Caller,
    card: &NodeCard,
) -> Result<Peer, NodeError> {
    let known = context.store.peer_of_key(&caller.owner, &caller.key).await?;
    let counts = |peer: &Peer| !is_same(peer, card) || peer.state == PeerState::Confirmed;
    if let Some(peer) = known.filter(counts) {
        if is_same(&peer, card) {
            return Ok(peer);
        }
        let (expected, found) = (peer.node, card.node_id);
        let note = Note::new(&caller.actor, &caller.owner, Action::AdmitPeer, found.to_string());
        let refused = SyncError::OtherNode { expected, found }.into();
        return Err(note.failed(&context.store, refused).await);
    }
    let note = Note::new(&caller.actor, &caller.owner, Action::AdmitPeer, card.node_id.to_string());
    let note = note.with("fingerprint", card.key.fingerprint().to_string());
    let peer = note.end(&context.store, bind(context, caller, card).await).await?;
    context.watches.peers_changed();
    Ok(peer)
}

/// Binds the key to the node, which may be registered already.
async fn bind(context: &Context, caller: &Caller, card: &NodeCard) -> Result<Peer, NodeError> {
    let known = context.store.list_peers(&caller.owner).await?;
    let api_key = Some(caller.key.clone());
    if let Some(known) = known.iter().find(|known| known.node == card.node_id) {
        if known.state == PeerState::Pending {
            return Err(SyncError::Pending { name: known.name.clone() }.into());
        }
        let bound = Peer { api_key, seal_key: card.seal_key.clone(), ..known.clone() };
        if !known.limits.is_none() {
            shown::check(context, &bound).await?;
            shown::shut_out(context, caller, known).await?;
        }
        context.store.update_peer(&bound).await?;
        return Ok(bound);
    }
    let peer = Peer {
        owner: caller.owner.clone(),
        node: card.node_id,
        name: free_name(&card.name, &known),
        url: None,
        node_type: card.node_type,
        auth: AuthMethod::ApiKey,
        state: PeerState::Confirmed,
        key: card.key,
        seal_key: card.seal_key.clone(),
        credential: None,
        api_key,
        limits: PeerLimits::default(),
        added_at: clock::now(),
        last_seen: Some(clock::now()),
        last_sync: None,
    };
    match context.store.create_peer(&peer).await {
        // Two requests of it came at once, and the other one was first.
        Err(StoreError::PeerTaken { .. } | StoreError::PeerKeyTaken { .. })
            if let Some(known) = already(context, caller, card).await? =>
        {
            return Ok(known);
        }
        created => created?,
    }
    tracing::info!(peer = %peer.node, name = peer.name, "a node asked with a key for the first time");
    Ok(peer)
}

/// The peer that shows this key and is this node, if it is confirmed.
async fn already(
    context: &Context,
    caller: &Caller,
    card: &NodeCard,
) -> Result<Option<Peer>, NodeError> {
    let known = context.store.peer_of_key(&caller.owner, &caller.key).await?;
    let is_it = |peer: &Peer| is_same(peer, card) && peer.state == PeerState::Confirmed;
    Ok(known.filter(is_it))
}

fn is_same(peer: &Peer, card: &NodeCard) -> bool {
    peer.node == card.node_id && peer.key == card.key
}

/// What the node calls itself, or something like it that no other peer is called.
pub(in crate::sync) fn free_name(name: &str, known: &[Peer]) -> String {
    let name: String = name.chars().filter(|letter| !letter.is_control()).take(50).collect();
    let name = if name.is_empty() { "node".to_owned() } else { name };
    let is_free = |candidate: &String| known.iter().all(|peer| peer.name != *candidate);
    let others = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone()).chain(others).find(is_free).unwrap_or(name)
}
