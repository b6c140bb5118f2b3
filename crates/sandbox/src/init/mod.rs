//! The first process in a sandbox: it starts what it is told to, and gives up everything when the
//! socket that it was born with closes.
//!
//! The one idea: whatever runs in a sandbox is a child of process 1, and the kernel ends them all when
//! that one ends. So nothing can outlive whoever holds the other end of the socket.

mod bare;
mod channel;
mod children;
mod error;
mod loopback;
mod message;
mod processes;
mod run;
mod serve;
mod settle;
mod signals;
mod tool;
mod unpack;

pub(crate) use bare::BARE;
pub(crate) use channel::{pair, receive, send};
pub use error::InitError;
pub(crate) use message::{Begin, MESSAGE_MAX, Notice, Order, Start, Unpack};
pub use run::run;
pub(crate) use settle::BROWSERS_LIMIT;
