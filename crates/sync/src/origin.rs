//! From which node a session comes, as its file says it.

use crate::context::Sync;
use crate::error::SyncError;
use baton_session::wire::{NodeType, Provenance};
use baton_session::{NodeId, Owner};
use jiff::Timestamp;

/// Where a session was made, by whom and when: of this node what its settings say, of a peer what it has said.
/// Of any other node nothing is known but its id.
pub(crate) async fn provenance(
    context: &Sync,
    owner: &Owner,
    node: NodeId,
    created_at: Timestamp,
    created_by: String,
) -> Result<Provenance, SyncError> {
    let (node_type, url) = if node == context.node {
        let own = &context.own.node_settings;
        let url = own.public_url.as_ref().or(own.internal_url.as_ref());
        (own.node_type, url.map(ToString::to_string))
    } else {
        let peers = context.store.list_peers(owner).await?;
        let known = peers.into_iter().find(|peer| peer.node == node);
        known.map_or((NodeType::Hosted, None), |peer| (peer.node_type, peer.url))
    };
    Ok(Provenance {
        node_id: node.to_string(),
        node_type,
        node_url: url.unwrap_or_default(),
        created_at: Some(created_at),
        created_by,
    })
}
