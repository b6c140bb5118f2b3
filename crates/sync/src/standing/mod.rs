//! How sync stands, told as it changes: to a program that follows it, and to nodes that want to know.
//!
//! The one idea: nobody asks again and again. A node that is asked for its index by one that has seen it
//! answers when it has another one; so a peer that somebody here follows has one request of ours open, and
//! what changes there is known here at once. Where nobody follows, nothing is asked.
//!
//! Rooms: [`follow`] is whoever follows here; `watched` is a peer that is asked for them, `watches` all of
//! those, each once; `next` answers a node that asks us.

mod follow;
mod next;
mod watched;
pub(super) mod watches;
mod watching;

pub use follow::follow;
pub(crate) use next::WAIT;
pub use next::next_index;
pub use watches::Watches;

use std::time::Duration;

/// How long changes that come together are waited for.
const TOGETHER: Duration = Duration::from_millis(100);
/// How often it is looked for what nobody here tells: what other nodes did to a shared database.
const LOOK_PAUSE: Duration = Duration::from_secs(5);
