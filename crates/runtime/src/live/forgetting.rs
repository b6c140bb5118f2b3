//! Letting go of what a node holds that is gone for good.
//!
//! The one idea: it is taken for gone by its beat alone, as everywhere: one that stood still for a whole lease. What it
//! held is then ended as for any node that fell silent, so that nothing is left which only that node could end.

use super::lease::Heartbeat;
use super::{BrowserSupervisor, LiveError};
use baton_session::NodeId;
use std::time::Duration;

impl Heartbeat {
    /// For how long a node may hold sessions without being heard again; none where it fell silent, or was never heard.
    fn may_hold_for(&self, node: NodeId) -> Option<Duration> {
        let seen = self.seen();
        let found = seen.get(&node)?;
        let left = found.lease?.saturating_sub(found.since.elapsed());
        (!left.is_zero()).then_some(left)
    }
}

impl BrowserSupervisor {
    /// Ends the leases of a node that is gone for good. Where it may hold sessions still, nothing is changed, and it is
    /// returned for how long that is so, unless it is heard again.
    pub async fn end_leases_of_gone(&self, node: NodeId) -> Result<Option<Duration>, LiveError> {
        self.observe().await;
        if let Some(left) = self.0.heartbeat.may_hold_for(node) {
            return Ok(Some(left));
        }
        if let Some(beat) = self.0.heartbeat.silent(node) {
            self.end_leases_of(node, beat).await?;
        }
        Ok(None)
    }
}
