//! What a peer shows to be let in here: an API key of ours, or a token of a provider.
//!
//! The one idea: limits are tied to the peer, and the peer to what it shows. So whatever a limited peer once
//! showed must not open this node without it.

use super::SyncError;
use crate::context::Sync;
use baton_api::Scope;
use baton_runtime::Caller;
use baton_runtime::keys;
use baton_store::Peer;

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
    match &context.own.gate {
        Some(gate) if gate.allows(client) => {
            let (name, client) = (peer.name.clone(), client.to_owned());
            Err(SyncError::LetInByToken { name, client })
        }
        _ => Ok(()),
    }
}

/// Checks that limits of a peer shut nobody out but the peer: the key that it shows must not be one with which
/// this node is administered.
pub(super) async fn check(context: &Sync, peer: &Peer) -> Result<(), SyncError> {
    let Some(shown) = &peer.api_key else { return Ok(()) };
    let keys = context.store.list_keys(&peer.owner).await?;
    let is_admin = keys.iter().any(|key| key.id == *shown && key.scopes.contains(&Scope::Admin));
    if is_admin { Err(SyncError::AdminKey { name: peer.name.clone() }) } else { Ok(()) }
}
