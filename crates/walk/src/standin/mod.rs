//! Nodes in threads, with keepers in this process and without Chromium.
//!
//! They are stand-ins, for walks by the thousand: what a node does, with its database, its HTTP and its
//! leases, is real; what it takes for a keeper and a browser is a few lines that keep cookies.

mod keeper;
mod node;
mod pair;
mod street;

pub use keeper::StandIns;
pub(crate) use node::MASTER_KEY;
pub use node::{Member, Shared, StandInNode};
pub use pair::{LEASE, Pair};
pub use street::{Browser, Street};
