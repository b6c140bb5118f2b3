//! Sessions that run, and what stands against it.
//!
//! The one idea: an error says what it is for a client beside where it is told, so no page has to know all
//! of them. Rooms: `error` is how an operation on a session fails, `elsewhere` what other nodes have against
//! it, and `answers` what either is for a client.

pub(crate) mod answers;
mod elsewhere;
mod error;

pub use elsewhere::{Elsewhere, Stand};
pub use error::RuntimeError;
