//! Sessions that run, and what stands against it.
//!
//! The one idea: an error says what it is for a client beside where it is told, so no page has to know all
//! of them. Rooms: `error` is how an operation on a session fails, `elsewhere` what other nodes have against
//! it, and `answers` what either is for a client; `here` is what every operation is given, and `peers` what is
//! asked of other nodes; `caller` is who asks, and `actor` what the log calls them; `tickets` open a browser,
//! `feed` tells of the board, and `activity` when somebody last asked.

mod activity;
mod actor;
pub(crate) mod answers;
mod caller;
mod elsewhere;
mod error;
mod feed;
mod here;
mod peers;
pub mod tickets;

pub use activity::{Activity, Request};
pub use actor::Actor;
pub use caller::Caller;
pub use elsewhere::{Elsewhere, Stand};
pub use error::RuntimeError;
pub(crate) use feed::Feed;
pub use here::Runtime;
pub use peers::{Answer, Consent, Peers};
pub use tickets::Tickets;
