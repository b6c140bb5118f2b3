//! Agents: the sandboxes in which they run with sessions, and the gateway that asks them as if they were models.
//!
//! What both share stands here: what an operation on agents is given, and how it fails.

mod answers;
mod context;
mod error;
pub mod gateway;
pub mod sandboxes;

pub use context::Agents;
pub use error::AgentsError;
