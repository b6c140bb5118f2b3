//! What every door shares: whose address a request comes from, under which names the node is addressed, and how
//! it refuses.

mod config;
mod guard;
mod peer;
mod refusal;

pub use config::HttpConfig;
pub(crate) use guard::{Guard, guard};
pub(crate) use peer::{Peer, find};
pub(crate) use refusal::BODY_TOO_LARGE;
pub use refusal::Refusal;
