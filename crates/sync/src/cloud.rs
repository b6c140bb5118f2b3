//! Registers the node that the settings name, by itself.
//!
//! The one idea: it is registered as an agent would do it, without a key and pending. Whether it is the
//! one that is meant, and what opens it, a person says.

use crate::context::Sync;
use crate::credential::PeerAccess;
use crate::error::SyncError;
use crate::letting_in::{command, preparation};
use crate::peers;
use crate::peers::register::Stranger;
use backon::{ExponentialBuilder, Retryable};
use baton_api::sync::RegisterPeer;
use baton_net::WayError;
use baton_net::outbound::Reach;
use baton_runtime::Caller;
use baton_session::peer::AuthMethod;
use baton_session::{NodeId, Owner};
use baton_store::Peer;
use std::time::Duration;
use url::Url;

/// What it is called here, if no other peer is.
const NAME: &str = "cloud";
/// The shortest and the longest pause before it is asked again.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_mins(5)];
/// How often it is asked again while it does not answer: for about an hour and a half.
const RETRIES: usize = 24;

/// Begins to register it, if there is one that is not a peer already.
pub fn start(context: &Sync) {
    let sync = &context.own.settings;
    let Some(url) = sync.cloud_url.clone().filter(|_| sync.auto_register_cloud) else { return };
    let context = context.clone();
    context.tasks.clone().spawn(async move {
        let registered = Box::pin(register(&context, &url));
        if let Some(Err(error)) = context.ending.run_until_cancelled(registered).await {
            let next = command(url.as_str(), NAME, AuthMethod::ApiKey);
            tracing::warn!(%url, %error, next, "the cloud was not registered");
        }
    });
}

async fn register(context: &Sync, url: &Url) -> Result<(), SyncError> {
    let caller = Caller::node(Owner::local());
    if known(context, &caller.owner).await?.iter().any(|peer| is_at(peer, url)) {
        return Ok(());
    }
    let node = who_answers(context, url).await?;
    // A person may have been faster, or it has asked this node before.
    let known = known(context, &caller.owner).await?;
    if known.iter().any(|peer| is_at(peer, url) || peer.node == node) {
        return Ok(());
    }
    let request = RegisterPeer {
        url: url.clone(),
        name: peers::free_name(NAME, &known),
        auth_method: AuthMethod::ApiKey,
        api_key: None,
        oidc: None,
        tunnel_token: None,
        fingerprint: None,
        limits: None,
    };
    let peer = peers::register(context, &caller, request).await?;
    let (fingerprint, name) = (peer.fingerprint.to_string(), peer.name);
    let (there, here) =
        (preparation(AuthMethod::ApiKey), command(url.as_str(), &name, AuthMethod::ApiKey));
    tracing::info!(
        %url, name, fingerprint, there, here,
        "registered the cloud: it is pending until a person gives its key and confirms its fingerprint"
    );
    Ok(())
}

async fn known(context: &Sync, owner: &Owner) -> Result<Vec<Peer>, SyncError> {
    Ok(context.store.list_peers(owner).await?)
}

fn is_at(peer: &Peer, url: &Url) -> bool {
    peer.url.as_deref() == Some(url.as_str())
}

/// Which node answers there; asked again while none does.
async fn who_answers(context: &Sync, url: &Url) -> Result<NodeId, SyncError> {
    let way = PeerAccess {
        name: NAME.to_owned(),
        url: url.clone(),
        method: AuthMethod::ApiKey,
        credential: None,
        tokens: context.own.tokens.clone(),
    };
    let stranger = Stranger::new(context, &way, Reach::default());
    let pauses = ExponentialBuilder::default()
        .with_min_delay(PAUSES[0])
        .with_max_delay(PAUSES[1])
        .with_max_times(RETRIES)
        .with_jitter();
    let asked = (|| stranger.identity()).retry(pauses).when(is_passing);
    let asked = asked.notify(|error, pause| {
        tracing::info!(%url, %error, ?pause, "the cloud is not registered yet: it is asked again");
    });
    Ok(asked.await?.node_id)
}

/// Whether it may answer later: its name, its proxy and the network come up after this node, too.
fn is_passing(error: &SyncError) -> bool {
    matches!(
        error,
        SyncError::Unreachable { .. }
            | SyncError::NotANode { .. }
            | SyncError::Way(WayError::NoClient { .. } | WayError::AddressNotAllowed { .. })
    )
}
