//! Admits a node that asks us with an API key of ours, or with a token of the provider.
//!
//! The one idea: a key says who may talk, and a person which node that is. A key that was made for one node
//! says both, so that node is let in at once and no other one by it. Whichever other node turns up is pending
//! until a person here has compared its fingerprint, whatever it shows: a provider vouches for its client,
//! and knows nothing of the key by which a node is known. The first node that shows a key, or a token of a
//! client, is the one that has it for good; one that turns up with another node was passed on, or stolen.
//!
//! Limits are tied to the peer, and the peer to what it shows. So whatever a limited peer once showed must not
//! open this node without it.

use crate::context::Sync;
use crate::error::SyncError;
use baton_api::Scope;
use baton_api::sync::NodeCard;
use baton_runtime::audit::{Action, Note};
use baton_runtime::shell::word;
use baton_runtime::{Caller, keys};
use baton_session::peer::{AuthMethod, PeerLimits, PeerState};
use baton_session::printable::is_hidden;
use baton_store::{Peer, StoreError, clock};

/// The peer behind a request that was signed by `card`'s node. One that is unknown is registered, and one
/// that no person has confirmed is refused. Whatever is new of it is noted, and not that it asks again.
pub async fn admit(context: &Sync, caller: &Caller, card: &NodeCard) -> Result<Peer, SyncError> {
    let known = context.store.peer_of_key(&caller.owner, &caller.key).await?;
    if let Some(peer) = known {
        if is_same(&peer, card) {
            return expect_confirmed(peer);
        }
        let (expected, found) = (peer.node, card.node_id);
        let refused = SyncError::OtherNode { expected, found };
        let note = Note::new(&caller.actor, &caller.owner, Action::AdmitPeer, found.to_string());
        return Err(note.failed(&context.store, refused).await);
    }
    let bound = bind(context, caller, card).await;
    if bound.is_ok() {
        context.own.watches.peers_changed();
    }
    let note = Note::new(&caller.actor, &caller.owner, Action::AdmitPeer, card.node_id.to_string());
    let note = note.with("fingerprint", card.key.fingerprint().to_string());
    note.end(&context.store, bound.and_then(expect_confirmed)).await
}

/// A peer that a person here has confirmed, or the refusal of any other.
fn expect_confirmed(peer: Peer) -> Result<Peer, SyncError> {
    if peer.state == PeerState::Confirmed {
        return Ok(peer);
    }
    let fingerprint = peer.key.fingerprint();
    let next = format!("baton peers confirm {}", word(&peer.name));
    Err(SyncError::PendingHere { fingerprint, next })
}

/// Binds the key to the node, which may be registered already.
async fn bind(context: &Sync, caller: &Caller, card: &NodeCard) -> Result<Peer, SyncError> {
    let found = card.key.fingerprint();
    let made_for = context.store.key_is_for(&caller.owner, &caller.key).await?;
    if let Some(expected) = made_for.filter(|expected| *expected != found) {
        return Err(SyncError::KeyOfOtherNode { expected, found });
    }
    let state = if made_for.is_some() { PeerState::Confirmed } else { PeerState::Pending };
    let known = context.store.list_peers(&caller.owner).await?;
    if let Some(known) = known.iter().find(|known| known.node == card.node_id) {
        return bind_known(context, caller, card, (known, state)).await;
    }
    let peer = Peer {
        owner: caller.owner.clone(),
        node: card.node_id,
        name: free_name(&card.name, &known),
        url: None,
        node_type: card.node_type,
        auth: AuthMethod::ApiKey,
        state,
        key: card.key,
        seal_key: card.seal_key.clone(),
        credential: None,
        api_key: Some(caller.key.clone()),
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
    let (name, state) = (&*peer.name, peer.state.as_str());
    tracing::info!(peer = %peer.node, name, state, "a node asked with a key for the first time");
    Ok(peer)
}

/// Binds the key to a node that is registered. The person who made the key for this node has confirmed it
/// with that.
async fn bind_known(
    context: &Sync,
    caller: &Caller,
    card: &NodeCard,
    (known, state): (&Peer, PeerState),
) -> Result<Peer, SyncError> {
    let (api_key, seal_key) = (Some(caller.key.clone()), card.seal_key.clone());
    let mut bound = Peer { api_key, seal_key, ..known.clone() };
    if !known.limits.is_none() {
        check(context, &bound).await?;
        shut_out(context, caller, known).await?;
    }
    context.store.update_peer(&bound).await?;
    if known.state == PeerState::Pending && state == PeerState::Confirmed {
        context.store.confirm_peer(&bound.owner, bound.node).await?;
        bound.state = state;
    }
    Ok(bound)
}

/// The peer that shows this key and is this node.
async fn already(
    context: &Sync,
    caller: &Caller,
    card: &NodeCard,
) -> Result<Option<Peer>, SyncError> {
    let known = context.store.peer_of_key(&caller.owner, &caller.key).await?;
    Ok(known.filter(|peer| is_same(peer, card)))
}

fn is_same(peer: &Peer, card: &NodeCard) -> bool {
    peer.node == card.node_id && peer.key == card.key
}

/// What the node calls itself, or something like it that no other peer is called.
pub(crate) fn free_name(name: &str, known: &[Peer]) -> String {
    let name: String =
        name.chars().filter(|letter| !is_hidden(*letter) && *letter != '\n').take(50).collect();
    let name = if name.is_empty() { "node".to_owned() } else { name };
    let is_free = |candidate: &String| known.iter().all(|peer| peer.name != *candidate);
    let others = (2..).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone()).chain(others).find(is_free).unwrap_or(name)
}

/// How the id of a caller begins whom a provider vouches for.
pub const CLIENT: &str = "oidc:";

/// Revokes the API key that a limited peer shows, because it is to be let in without it from now on, or no
/// more. Fails for one that shows a token as long as the settings let its client in: it would come back as a
/// peer without limits.
pub(super) async fn shut_out(
    context: &Sync,
    caller: &Caller,
    peer: &Peer,
) -> Result<(), SyncError> {
    let Some(shown) = peer.api_key.as_ref().filter(|_| !peer.limits.is_none()) else {
        return Ok(());
    };
    let Some(client) = shown.strip_prefix(CLIENT) else {
        return Ok(keys::revoke(context, caller, None, shown).await?);
    };
    let client = client.split_once('@').map_or(client, |(client, _)| client);
    match &context.own.token_verifier {
        Some(token_verifier) if token_verifier.allows(client) => {
            let (name, client) = (peer.name.clone(), client.to_owned());
            Err(SyncError::LetInByToken { name, client })
        }
        _ => Ok(()),
    }
}

/// Checks that limits of a peer shut out the peer alone: the key that it shows must not be one with which
/// this node is administered.
pub(super) async fn check(context: &Sync, peer: &Peer) -> Result<(), SyncError> {
    let Some(shown) = &peer.api_key else { return Ok(()) };
    let keys = context.store.list_keys(&peer.owner).await?;
    let is_admin = keys.iter().any(|key| key.id == *shown && key.scopes.contains(&Scope::Admin));
    if is_admin { Err(SyncError::AdminKey { name: peer.name.clone() }) } else { Ok(()) }
}
