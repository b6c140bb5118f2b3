//! How a node ends: by itself when it has long been of no use, and in phases that each have their time.
//!
//! The one idea: a supervisor that asked a node to end kills it when that takes too long (systemd does after
//! 90 s), and then what was not done is lost. So there is one time for all of it. Each phase has a share that
//! the phases before it cannot use up, and what they leave as well.

use crate::context::Context;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// For bringing sessions to other nodes, where `cluster.drain` wants that: it comes before all else, and on top of
/// what a supervisor usually grants.
pub(crate) const DRAIN: Duration = Duration::from_mins(2);
/// For requests under way, and what they began.
pub(crate) const REQUESTS: Duration = Duration::from_secs(15);
/// For sandboxes that are written back.
pub(crate) const SANDBOXES: Duration = Duration::from_secs(40);
/// For the last captures of all sessions.
pub(crate) const CAPTURES: Duration = Duration::from_secs(20);
/// For closing the database.
pub(crate) const DATABASE: Duration = Duration::from_secs(5);
/// How long the rest of a program may take to let go of what it did, after a node has ended in it.
pub const LAST_WORDS: Duration = Duration::from_secs(5);

/// After what time a node that was asked to end is killed where no setting says otherwise
/// (`DefaultTimeoutStopSec`, `systemd-system.conf(5)`).
const KILLED_AFTER: Duration = Duration::from_secs(90);
/// All of it.
const ALL: u64 = REQUESTS.as_secs()
    + SANDBOXES.as_secs()
    + CAPTURES.as_secs()
    + DATABASE.as_secs()
    + LAST_WORDS.as_secs();
const _: () = assert!(ALL < KILLED_AFTER.as_secs(), "a node would be killed before it has ended");

/// The time of a node that ends.
#[derive(Debug)]
pub(crate) struct Budget {
    /// Until when the phases so far may take.
    until: Instant,
}

impl Budget {
    /// Begins to count.
    pub(crate) fn start() -> Self {
        Self { until: Instant::now() }
    }

    /// How long the next phase, which has this share, may take.
    pub(crate) fn grant(&mut self, share: Duration) -> Duration {
        self.grant_at(share, Instant::now())
    }

    fn grant_at(&mut self, share: Duration, now: Instant) -> Duration {
        self.until += share;
        self.until.saturating_duration_since(now)
    }

    /// Does what the next phase is for, within its share. None when that was not enough.
    pub(crate) async fn spend<T>(
        &mut self,
        share: Duration,
        phase: impl Future<Output = T>,
    ) -> Option<T> {
        timeout(self.grant(share), phase).await.ok()
    }
}

/// Returns when the node had no active session, no sandbox, no listener for peers and no request
/// for as long as `limit`.
pub(crate) async fn idle(context: &Context, limit: Duration) {
    let step = (limit / 10).clamp(Duration::from_millis(50), Duration::from_secs(30));
    let mut useful = Instant::now();
    loop {
        tokio::time::sleep(step).await;
        // A database that does not answer is no reason to leave.
        let active = context.store.list_active_sessions(context.node).await;
        let is_used = !active.is_ok_and(|sessions| sessions.is_empty());
        // A node that invited others is to be asked by them.
        let is_asked = context.peer_place.address().await.is_some();
        if is_used || is_asked || !context.agents.sandboxes.is_empty() {
            useful = Instant::now();
        }
        if useful.elapsed().min(context.activity.quiet()) >= limit {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Budget;
    use std::time::Duration;
    use tokio::time::Instant;

    const SHARE: Duration = Duration::from_secs(10);

    #[test]
    fn a_phase_takes_nothing_from_those_behind_it_and_leaves_them_what_it_does_not_need() {
        let begun = Instant::now();
        let mut budget = Budget { until: begun };
        assert_eq!(budget.grant_at(SHARE, begun), SHARE);
        // It took a second longer than it may.
        let now = begun + Duration::from_secs(11);
        assert_eq!(budget.grant_at(SHARE, now), Duration::from_secs(9));
        // It took half of that.
        let now = begun + Duration::from_secs(15);
        assert_eq!(budget.grant_at(SHARE, now), Duration::from_secs(15));
        // It never ended: what is behind the end has nothing.
        let now = begun + 4 * SHARE;
        assert_eq!(budget.grant_at(Duration::ZERO, now), Duration::ZERO);
    }
}
