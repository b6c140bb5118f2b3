//! How many connections there may be, and how long a caller may take.

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
