//! How long a node has been of no use: a node that a command started ends itself some day.

use crate::context::Context;
use std::time::Duration;
use tokio::time::Instant;

/// Returns when the node had no active session, no sandbox and no request for as long as `limit`.
pub async fn idle(context: &Context, limit: Duration) {
    let step = (limit / 10).clamp(Duration::from_millis(50), Duration::from_secs(30));
    let mut useful = Instant::now();
    loop {
        tokio::time::sleep(step).await;
        // A database that does not answer is no reason to leave.
        let active = context.store.list_active_sessions(context.node).await;
        let is_used = !active.is_ok_and(|sessions| sessions.is_empty());
        if is_used || !context.agents.sandboxes.is_empty() {
            useful = Instant::now();
        }
        if useful.elapsed().min(context.activity.quiet()) >= limit {
            return;
        }
    }
}
