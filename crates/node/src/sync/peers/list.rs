//! Lists this node and its peers.

use super::status;
use crate::auth::Caller;
use crate::{Context, NodeError};
use baton_api::sync::PeerList;

/// This node, and the caller's peers by name, each with whether it answers.
pub async fn list(context: &Context, caller: &Caller) -> Result<PeerList, NodeError> {
    let peers = context.store.list_peers(&caller.owner).await?;
    let this = context.identity.now().card(&context.node_settings);
    let fingerprint = this.key.fingerprint();
    let mut items = status::views(context, peers).await;
    items.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(PeerList { this, fingerprint, items })
}
