//! Moves sessions by itself: every so often all are compared with every confirmed peer, and what
//! differs moves both ways.

use crate::context::Sync;
use crate::deletions::{forget_deletions, remove_remains};
use crate::differences::differences;
use crate::error::SyncError;
use crate::movement::{CALL_LIMIT, push, whole};
use crate::pull::pull;
use crate::{peer_lease, peers};
use baton_api::sync::Difference;
use baton_runtime::Caller;
use baton_store::clock;
use jiff::SignedDuration;
use std::time::Duration;
use tokio::time::sleep;

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
