//! Sessions that run, and what stands against it.
//!
//! The one idea: an error says what it is for a client beside where it is told, so no page has to know all
//! of them. Rooms: `error` is how an operation on a session fails, `elsewhere` what other nodes have against
//! it, and `answers` what either is for a client; `here` is what every operation is given, with what it asks of
//! other nodes, and `consent` how; `caller` is who asks, and `actor` what the log calls them; `tickets` open a browser,
//! `feed` tells of the board, and `activity` when somebody last asked.

mod activity;
mod actor;
pub(crate) mod answers;
mod caller;
mod consent;
mod elsewhere;
mod error;
mod feed;
mod here;
pub mod tickets;

pub use activity::{Activity, Request};
pub use actor::Actor;
pub use caller::Caller;
pub use consent::Consent;
pub use elsewhere::{Elsewhere, Stand};
pub use error::RuntimeError;
pub(crate) use feed::Feed;
pub use here::{Answer, Peers, Runtime};
pub use tickets::Tickets;
