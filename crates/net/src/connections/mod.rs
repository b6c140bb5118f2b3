//! Connections: how many there may be, who keeps theirs, and how long a caller may take.
//!
//! Each has a task of its own, from the handshake on, so that one caller that falls silent keeps no other
//! waiting. Every phase has its limit in the connection itself, whatever answers behind it: the handshake of
//! TLS, the head of a request (and the silence before it), its body, an answer that is not taken. Rooms:
//! `bound` is a listener, and the sockets that hold their places; `places` says who may hold a connection,
//! `visit` is what a request and its connection know of each other, and `freight` what bodies weigh together.

pub mod freight;
mod listener;
mod places;
mod visit;

pub use freight::Freight;
pub use listener::Listener;
pub use visit::{BodyTrouble, Visit};

use baton_session::Owner;
use futures_util::future::BoxFuture;
use std::net::SocketAddr;
use std::time::Duration;

/// The address of a connection's other end.
#[derive(Debug, Clone, Copy)]
pub struct Connection(pub SocketAddr);

/// What a door bears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// How many connections at once; a further one takes the place of another.
    pub connections: usize,
    /// How long a handshake, and then the head of each request, may take, how long a body may pause, and how
    /// long what is left of it is taken after an answer.
    pub silence: Duration,
    /// How long a body may take, beside the time that it has earned by what came.
    pub body: Duration,
    /// How many bytes of a body earn a second.
    pub bytes_per_second: u64,
    /// How long nothing of an answer may be taken.
    pub stalled: Duration,
    /// How many bytes of bodies are held at once.
    pub freight: usize,
    /// How many of them of one key.
    pub freight_of_key: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            connections: 1000,
            silence: Duration::from_secs(30),
            body: Duration::from_mins(1),
            bytes_per_second: 1024,
            stalled: Duration::from_mins(1),
            // The largest body has 160 MiB.
            freight: 512 << 20,
            freight_of_key: 256 << 20,
        }
    }
}

/// Knows keys.
pub trait Keys: Send + Sync {
    /// Whether the owner's key of this id opens anything. Where that cannot be looked up it is good: what is
    /// under way does not end for it.
    fn is_good<'a>(&'a self, owner: &'a Owner, id: &'a str) -> BoxFuture<'a, bool>;
}

#[cfg(test)]
mod tests;
