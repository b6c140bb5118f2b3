//! How an operation on agents, and on the sandboxes in which they run, fails.

use crate::gateway::GatewayRefusal;
use crate::sandboxes::SandboxRefusal;
use baton_api::{Invalid, by_way_of};
use baton_net::WayError;
use baton_runtime::RuntimeError;
use baton_runtime::live::LiveError;
use baton_session::login::NoLogin;
use baton_store::StoreError;
use baton_store::blocking::Stopping;

/// Why an operation on agents was not done.
#[derive(Debug, thiserror::Error)]
pub enum AgentsError {
    /// Something of a session stands against it.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// Nobody is asked there.
    #[error(transparent)]
    Way(#[from] WayError),
    /// A sandbox is not made, or does not do what the request wants.
    #[error(transparent)]
    Sandbox(#[from] SandboxRefusal),
    /// An agent does not answer.
    #[error(transparent)]
    Gateway(#[from] GatewayRefusal),
}

by_way_of! {
    AgentsError: RuntimeError { StoreError, LiveError, Invalid, NoLogin, Stopping }
}
