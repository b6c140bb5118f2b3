//! What a node does by itself: it registers the node that the settings name, and every so often compares
//! all sessions with every confirmed peer and moves what differs both ways.
//!
//! The node that the settings name is registered as an agent would do it, without a key and pending. Whether it is the
//! one that is meant, and what opens it, a person says.

use crate::context::Sync;
use crate::credential::PeerAccess;
use crate::deletions::{forget_deletions, remove_remains};
use crate::differences::differences;
use crate::error::SyncError;
use crate::letting_in::{command, preparation};
use crate::movement::{CALL_LIMIT, push, whole};
use crate::peers::register::Stranger;
use crate::pull::pull;
use crate::{peer_lease, peers};
use backon::{ExponentialBuilder, Retryable};
use baton_api::sync::{Difference, RegisterPeer};
use baton_net::WayError;
use baton_net::outbound::Reach;
use baton_runtime::Caller;
use baton_session::peer::AuthMethod;
use baton_session::{NodeId, Owner};
use baton_store::{Peer, clock};
use jiff::SignedDuration;
use std::time::Duration;
use tokio::time::sleep;
use url::Url;

/// How long parts of a session that never came whole are kept.
const STAGED_LIMIT: SignedDuration = SignedDuration::from_hours(24);
/// How often those are looked for, and deletions that everybody has heard of.
const TIDY_PAUSE: Duration = Duration::from_hours(1);

/// How often peers hear which sessions run here.
const RENEW_PAUSE: Duration = Duration::from_mins(15);

/// Begins to move sessions, if that is set, and to tidy up, until the node ends; and tells peers which
/// sessions it holds.
pub fn start(context: &Sync) {
    if let Some(pause) = context.own.settings.interval {
        let mover = context.clone();
        context.tasks.spawn(async move {
            while mover.ending.run_until_cancelled(sleep(pause)).await.is_some() {
                mover.ending.run_until_cancelled(Box::pin(move_all(&mover))).await;
            }
        });
    }
    let holder = context.clone();
    context.tasks.spawn(async move {
        let renew_and_wait = async || {
            if let Err(error) = peer_lease::renew_all(&holder).await {
                tracing::warn!(%error, "peers were not told which sessions run here");
            }
            sleep(RENEW_PAUSE).await;
        };
        while holder.ending.run_until_cancelled(Box::pin(renew_and_wait())).await.is_some() {}
    });
    let tidier = context.clone();
    context.tasks.spawn(async move {
        // At the start too: a node that ends when it is idle may never run for an hour.
        let tidy_and_wait = async || {
            tidy(&tidier).await;
            sleep(TIDY_PAUSE).await;
        };
        while tidier.ending.run_until_cancelled(tidy_and_wait()).await.is_some() {}
    });
}

/// Drops what no peer waits for, and what no peer needs to hear any more.
async fn tidy(context: &Sync) {
    let before = clock::now() - STAGED_LIMIT;
    if let Err(error) = context.store.expire_staged(before).await {
        tracing::warn!(%error, "parts that nobody waits for were not removed");
    }
    // Before they are forgotten.
    if let Err(error) = remove_remains(context).await {
        tracing::warn!(%error, "what deleted sessions left was not removed");
    }
    if let Err(error) = forget_deletions(context).await {
        tracing::warn!(%error, "deletions that everybody has heard of were not forgotten");
    }
}

/// Moves what differs, for every owner and every peer. One that fails does not keep others from it.
async fn move_all(context: &Sync) {
    let owners = match context.store.list_peer_owners().await {
        Ok(owners) => owners,
        Err(error) => return tracing::warn!(%error, "the peers could not be looked at"),
    };
    for owner in owners {
        let caller = Caller::node(owner);
        let peers = peers::confirmed(context, &caller.owner).await.unwrap_or_default();
        for peer in peers {
            if let Err(error) = move_with(context, &caller, &peer.node.to_string()).await {
                tracing::info!(peer = peer.name, %error, "sessions did not move");
            }
        }
    }
}

async fn move_with(context: &Sync, caller: &Caller, peer: &str) -> Result<(), SyncError> {
    for item in differences(context, caller, peer).await?.items {
        let session = item.session_id.to_string();
        let moved = async {
            if matches!(item.difference, Difference::Behind | Difference::Diverged) {
                whole(|| pull(context, caller, peer, &session, CALL_LIMIT)).await?;
            }
            if matches!(item.difference, Difference::Ahead | Difference::Diverged) {
                whole(|| push(context, caller, peer, &session, CALL_LIMIT)).await?;
            }
            Ok::<_, SyncError>(())
        };
        if let Err(error) = moved.await {
            tracing::warn!(session, %error, "a session did not move");
        }
    }
    Ok(())
}

/// What it is called here, if no other peer is.
const NAME: &str = "cloud";
/// The shortest and the longest pause before it is asked again.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_mins(5)];
/// How often it is asked again while it does not answer: for about an hour and a half.
const RETRIES: usize = 24;

/// Begins to register it, if there is one that is not a peer already.
pub fn start_cloud(context: &Sync) {
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

/// Whether it may answer later: its name, its proxy and the network come up after this node, too, and with them
/// the clock by which certificates are judged.
fn is_passing(error: &SyncError) -> bool {
    error.is_unanswered()
        || matches!(
            error,
            SyncError::NotANode { .. }
                | SyncError::Way(
                    WayError::NotFound { .. }
                        | WayError::NoClient { .. }
                        | WayError::AddressNotAllowed { .. }
                )
        )
}
