//! What an operation on agents is given: what moves sessions has, and the sandboxes and agents that there are.

use crate::agents::gateway::GatewaySettings;
use crate::agents::sandboxes::Sandboxes;
use crate::sync::Sync;
use std::ops::Deref;
use std::sync::Arc;

/// The surroundings of an operation on agents. Cheap to clone.
#[derive(Clone)]
pub struct Agents {
    /// Those of whatever moves sessions.
    pub sync: Sync,
    /// The sandboxes that there are.
    pub sandboxes: Sandboxes,
    /// Which agents are asked as if they were models.
    pub(crate) gateway: Arc<GatewaySettings>,
}

impl Deref for Agents {
    type Target = Sync;

    fn deref(&self) -> &Sync {
        &self.sync
    }
}
