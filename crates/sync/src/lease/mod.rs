//! Leases between nodes: a session that several nodes have runs at one of them.
//!
//! The one idea: who wants to run a session asks every peer for it, with a lease of a higher term than
//! any that it knows. Who runs it captures, saves and closes it, and answers with how far it came. Who
//! cannot be reached cannot be asked: the session is taken over, and when that node is heard again, it
//! finds that its lease counts no more, saves what it has and closes it. Whatever was done meanwhile on
//! both sides is kept, as revisions that are compared. Who takes the connection and says nothing is there:
//! what they hold stays theirs, until a person removes them.
//!
//! Rooms: `take` asks for a session, by `ask` all peers at once, `give` hands it over, and `note` writes leases
//! down; `renew` tells peers what runs here, and `learn` hears what they have.

mod ask;
mod give;
mod learn;
mod note;
mod renew;
mod take;

pub use give::give;
pub(super) use learn::learn;
pub(crate) use note::release;
pub(super) use note::{hold_if_free, holder_elsewhere};
pub(crate) use renew::{hear, renew_all};
pub(crate) use take::{look_at_holder, take};
