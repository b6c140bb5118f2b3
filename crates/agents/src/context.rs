//! What an operation on agents is given: what one on a session is, and the sandboxes and agents that there
//! are.

use crate::gateway::GatewaySettings;
use crate::sandboxes::Sandboxes;
use baton_net::outbound::Outbound;
use baton_runtime::Runtime;
use std::ops::Deref;
use std::sync::Arc;

/// The surroundings of an operation on agents. Cheap to clone.
#[derive(Clone)]
pub struct Agents {
    /// Those of an operation on a session.
    pub runtime: Runtime,
    /// Which addresses it asks.
    pub outbound: Outbound,
    /// The sandboxes that there are.
    pub sandboxes: Sandboxes,
    /// Which agents are asked as if they were models.
    pub gateway: Arc<GatewaySettings>,
}

impl Deref for Agents {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        &self.runtime
    }
}
