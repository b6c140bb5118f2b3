//! Lists this node and its peers.

use super::status;
use crate::context::Sync;
use crate::error::SyncError;
use baton_api::sync::{PeerList, PeerView};
use baton_runtime::Caller;

/// This node, and the caller's peers by name, each with whether it answers.
pub async fn list(context: &Sync, caller: &Caller) -> Result<PeerList, SyncError> {
    let peers = context.store.list_peers(&caller.owner).await?;
    Ok(listed(context, status::views(context, peers).await))
}

/// The same for whoever asks them next anyway: none of them is asked whether it answers.
pub async fn known(context: &Sync, caller: &Caller) -> Result<PeerList, SyncError> {
    let peers = context.store.list_peers(&caller.owner).await?;
    let items = peers.into_iter().map(|peer| status::unasked(context, peer)).collect();
    Ok(listed(context, items))
}

fn listed(context: &Sync, mut items: Vec<PeerView>) -> PeerList {
    let this = context.own.identity.now().card(&context.own.node_settings);
    let fingerprint = this.key.fingerprint();
    items.sort_by(|a, b| a.name.cmp(&b.name));
    PeerList { this, fingerprint, items }
}
