//! What operations on agents and their sandboxes share: what they are given, and how they fail.

mod answers;
mod context;
mod error;

pub use context::Agents;
pub use error::AgentsError;
