//! Entering a cluster at the start of a node, and staying in it.

use super::members::{Cluster, ClusterError};
use super::rates::SharedRates;
use super::rooms::OwnRoom;
use crate::config::{Config, DEFAULT_LEASE};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_agents::sandboxes::Sandboxes;
use baton_net::rates::Rates;
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
        cluster: cluster.name.clone(),
        node: identity.node(),
        name: config.node.name.clone(),
        internal_url: url.to_string(),
        key: identity.key(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        start: URL_SAFE_NO_PAD.encode(rand::random::<[u8; 16]>()),
        lease: config.lease.unwrap_or(DEFAULT_LEASE),
        labels: cluster.labels.clone(),
    };
    Ok(Some(Cluster::enter(store.clone(), member).await?))
}

/// Says that this node is there, for as long as what this answers is kept; cancels `shutdown` when another start has
/// its place.
pub(crate) fn stay(
    cluster: &Cluster,
    supervisor: &BrowserSupervisor,
    sandboxes: &Sandboxes,
    rates: &Rates,
    shutdown: CancellationToken,
) -> AbortOnDropHandle<()> {
    let rates = SharedRates::new(rates.clone());
    let (supervisor, cluster) = (supervisor.clone(), cluster.clone());
    let sandboxes = sandboxes.clone();
    AbortOnDropHandle::new(tokio::spawn(async move {
        let (mut browsers, mut made) = (supervisor.changes_in_number(), sandboxes.changes());
        let changed = async {
            loop {
                let told = tokio::select! {
                    told = browsers.changed() => told,
                    told = made.changed() => told,
                };
                if told.is_err() {
                    return;
                }
                cluster.beat_at_once();
            }
        };
        let room = || OwnRoom { browsers: supervisor.room(), sandboxes: sandboxes.room() };
        let beat = cluster.clone().beat(room, rates, shutdown);
        tokio::pin!(beat);
        tokio::select! {
            () = &mut beat => {}
            () = changed => beat.await,
        }
    }))
}
