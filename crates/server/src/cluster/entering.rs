//! Entering a cluster at the start of a node, and staying in it.

use super::members::{Cluster, ClusterError};
use crate::config::{Config, DEFAULT_LEASE};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_runtime::live::BrowserSupervisor;
use baton_store::{ClusterMember, Store};
use baton_sync::identity::OwnIdentity;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// Enters the cluster that the settings name, if they name one.
pub(crate) async fn enter(
    config: &Config,
    store: &Store,
    identity: &OwnIdentity,
) -> Result<Option<Cluster>, ClusterError> {
    let (Some(cluster), Some(url)) = (&config.cluster, &config.node.internal_url) else {
        return Ok(None);
    };
    let identity = identity.now();
    let member = ClusterMember {
        cluster: cluster.clone(),
        node: identity.node(),
        name: config.node.name.clone(),
        internal_url: url.to_string(),
        key: identity.key(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        start: URL_SAFE_NO_PAD.encode(rand::random::<[u8; 16]>()),
        lease: config.lease.unwrap_or(DEFAULT_LEASE),
    };
    Ok(Some(Cluster::enter(store.clone(), member).await?))
}

/// Says that this node is there, for as long as what this answers is kept; cancels `shutdown` when another start has
/// its place.
pub(crate) fn stay(
    cluster: &Cluster,
    supervisor: &BrowserSupervisor,
    shutdown: CancellationToken,
) -> AbortOnDropHandle<()> {
    let supervisor = supervisor.clone();
    let beat = cluster.clone().beat(move || supervisor.active(), shutdown);
    AbortOnDropHandle::new(tokio::spawn(beat))
}
