//! Connections: how many there may be, who keeps theirs, and how long a caller may take.
//!
//! Each has a task of its own, from the handshake on, so that one caller that falls silent keeps
//! nobody waiting. Every phase has its limit in the connection itself, whoever answers behind it: the
//! handshake of TLS, the head of a request (and the silence before it), its body, an answer that is not
//! taken. Rooms: `door` is a listener, within its `bounds`; `places` says who may hold a connection, `line`
//! is the socket that holds the place, `visit` what a request and its connection know of each other, `freight`
//! what bodies weigh together, and `keys` whether one is still good.

mod bounds;
mod door;
pub mod freight;
mod keys;
mod line;
mod places;
mod visit;

pub use bounds::{Bounds, Connection};
pub use door::Door;
pub use freight::Freight;
pub use keys::Keys;
pub use visit::{BodyTrouble, Visit};

#[cfg(test)]
mod tests;
