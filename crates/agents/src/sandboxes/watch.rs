//! Ends a sandbox when its time has come, or when it has ended by itself.

use super::end::expire;
use super::registry::Kept;
use crate::context::Agents;
use crate::error::AgentsError;
use crate::sandboxes::error::SandboxRefusal;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// How long until it is tried again where something of ours did not work, the database for instance: at
/// first, and at most.
const AGAIN: Duration = Duration::from_secs(10);
const AGAIN_MOST: Duration = Duration::from_mins(5);

/// Waits until this node can no longer say that it holds the sandbox's session.
async fn lost(context: &Agents, kept: &Kept) {
    match kept.lent {
        Some(_) => context.hub.lost().await,
        None => std::future::pending().await,
    }
}

/// Watches a sandbox for as long as it is there, or until the node ends, which then ends all of them. An
/// end that has begun is finished before the node ends.
pub(super) fn watch(context: &Agents, kept: Arc<Kept>, ttl: Duration) {
    let context = context.clone();
    context.tasks.clone().spawn(async move {
        tokio::select! {
            biased;
            () = kept.ended.cancelled() => return,
            () = context.ending.cancelled() => return,
            () = kept.sandbox.ended() => {
                tracing::warn!(sandbox = %kept.view.id, "a sandbox ended by itself");
            }
            () = lost(&context, &kept) => {
                tracing::warn!(sandbox = %kept.view.id, "another node may take the session of a sandbox: it ends");
            }
            () = sleep(ttl) => tracing::info!(sandbox = %kept.view.id, "a sandbox's time has come"),
        }
        let mut pause = AGAIN;
        loop {
            match expire(&context, &kept).await {
                Ok(()) => return,
                // Somebody else ends it right now.
                Err(AgentsError::Sandbox(SandboxRefusal::NotFound { .. })) => {}
                Err(error) => {
                    tracing::error!(sandbox = %kept.view.id, %error, "a sandbox was not ended");
                }
            }
            tokio::select! {
                () = kept.ended.cancelled() => return,
                () = context.ending.cancelled() => return,
                () = sleep(pause) => pause = (pause * 2).min(AGAIN_MOST),
            }
        }
    });
}
