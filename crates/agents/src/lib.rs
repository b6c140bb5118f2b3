//! Agents: the sandboxes in which they run with sessions, and the gateway that asks them as if they were
//! models.
//!
//! What both share is below them: [`Agents`] is what an operation is given, `registry` the sandboxes that
//! there are, `counted` how they count for their owners, `settings` how both are set up, and `error` how an operation fails.

mod counted;
mod error;
pub mod gateway;
mod registry;
pub mod sandboxes;
mod settings;

pub use error::AgentsError;

use baton_net::outbound::Outbound;
use baton_runtime::Runtime;
use registry::Sandboxes;
use settings::GatewaySettings;
use std::ops::Deref;
use std::sync::Arc;

/// The surroundings of an operation on agents. Cheap to clone.
///
/// It is what an operation on a session is given, and the sandboxes and agents that there are.
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
