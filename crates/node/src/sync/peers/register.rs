//! Registers a peer.
//!
//! The one idea: the key that it shows now is the one that it has for good. It may be given nothing
//! until a person has compared the fingerprint.

use super::super::SyncError;
use super::super::remote;
use super::status;
use crate::audit::{Action, Note};
use crate::auth::Caller;
use crate::outbound::Reach;
use crate::{Context, NodeError, clock};
use baton_api::Scope;
use baton_api::sync::{PeerView, RegisterPeer};
use baton_session::peer::{AuthMethod, PeerState};
use baton_store::Peer;
use secrecy::SecretString;
use url::Url;

/// The longest name of a peer, in characters.
const NAME_MAX: usize = 64;

/// Registers the node at an address. It is pending, unless the caller says which fingerprint it has.
pub async fn register(
    context: &Context,
    caller: &Caller,
    request: RegisterPeer,
) -> Result<PeerView, NodeError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::RegisterPeer, &*request.name);
    let note = note.with("url", shown(&request.url));
    let peer = note.end(&context.store, register_here(context, caller, request).await).await?;
    Ok(status::view(context, peer, false).await)
}

/// An address without the password that it should not have.
fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    // One without a host has neither.
    let _ = (shown.set_username(""), shown.set_password(None));
    shown.into()
}

async fn register_here(
    context: &Context,
    caller: &Caller,
    request: RegisterPeer,
) -> Result<Peer, NodeError> {
    check(&request)?;
    if request.fingerprint.is_some() {
        caller.require(Scope::Admin)?;
    }
    let key = SecretString::from(request.api_key.ok_or(SyncError::NoKey)?);
    // Whoever administers this machine may name what listens on it.
    let reach = Reach { loopback: caller.require(Scope::Admin).is_ok() };
    let card = remote::card(context, &request.url, &key, reach).await?;
    if card.node_id == context.node {
        let found = "this node itself".to_owned();
        return Err(SyncError::AddressNotAllowed { found }.into());
    }
    let found = card.key.fingerprint();
    if let Some(expected) = request.fingerprint.filter(|expected| *expected != found) {
        let (expected, found) = (expected.to_string(), found.to_string());
        return Err(SyncError::OtherFingerprint { expected, found }.into());
    }
    let is_confirmed = request.fingerprint.is_some();
    let peer = Peer {
        owner: caller.owner.clone(),
        node: card.node_id,
        name: request.name,
        url: Some(request.url.to_string()),
        node_type: card.node_type,
        auth: request.auth_method,
        state: if is_confirmed { PeerState::Confirmed } else { PeerState::Pending },
        key: card.key,
        seal_key: card.seal_key,
        credential: Some(key),
        api_key: None,
        added_at: clock::now(),
        last_seen: Some(clock::now()),
        last_sync: None,
    };
    add(context, peer).await
}

fn check(request: &RegisterPeer) -> Result<(), NodeError> {
    match request.auth_method {
        AuthMethod::ApiKey => {}
        other => return Err(SyncError::OtherAuth { found: other.as_str() }.into()),
    }
    let length = request.name.chars().count();
    if !(1..=NAME_MAX).contains(&length) || request.name.chars().any(char::is_control) {
        return Err(NodeError::Invalid {
            field: "name",
            expected: "1 to 64 characters",
            found: length.to_string(),
        });
    }
    Ok(())
}

/// Adds a peer; one that has asked us before, and is the same, gets its address and its name.
async fn add(context: &Context, peer: Peer) -> Result<Peer, NodeError> {
    let known = context.store.list_peers(&peer.owner).await?;
    let known = known.into_iter().find(|known| known.node == peer.node);
    match known {
        Some(known) if known.key == peer.key && known.url.is_none() => {
            let merged = Peer { api_key: known.api_key, last_sync: known.last_sync, ..peer };
            context.store.update_peer(&merged).await?;
            Ok(merged)
        }
        _ => {
            context.store.create_peer(&peer).await?;
            tracing::info!(peer = %peer.node, "registered a peer");
            Ok(peer)
        }
    }
}
