//! Sessions that run: the one way in to them and out of them, who asks, and the log of what was asked.
//!
//! The one idea: an operation takes what it needs and plain data, and returns plain data; a door only
//! translates. It knows nothing of doors, and of other nodes no more than what it asks of them. Rooms, from
//! the ground upwards: [`table`] says what is being done to which session; [`live`] holds the running
//! browsers, [`life`] is the one way in to them, and [`sessions`] are the operations, as doors call them.
//! [`here`] is what every operation is given, with what it asks of other nodes; [`request`] is who asks, and
//! what a request names; [`keys`] open the node to callers, and [`tickets`] a browser to tools that send no
//! headers; [`audit`] is the log. [`board`] writes on the board that agents share, and [`feed`] tells of it.
//! [`error`] is how an operation fails and what other nodes have against it, what either is for a client,
//! and the command that a person types then. [`latest`] keeps what came last,
//! `folder` says what files of a session lie in a folder, and [`luggage`] how they go to another node.

pub mod audit;
pub mod board;
pub mod error;
pub mod feed;
mod folder;
pub mod here;
pub mod keys;
pub mod latest;
pub mod life;
pub mod live;
pub mod luggage;
pub mod request;
pub mod sessions;
pub mod table;
pub mod tickets;
pub mod usage;

pub use error::{Elsewhere, RuntimeError, Stand};
pub use feed::Feed;
pub use here::{Answer, Peers, Runtime};
pub use request::{Activity, Actor, Caller, Consent, Request};
pub use tickets::Tickets;
