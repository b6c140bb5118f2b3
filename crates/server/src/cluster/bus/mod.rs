//! The bus of a cluster: how the other nodes know at once that something changed.
//!
//! The one idea: a message is a doorbell, never the truth. It says that something changed, and its hearers read the
//! database, as they would at their next look; so what is lost costs seconds, and what is forged a look. `message` is
//! what is said and how it is believed, `settings` how a server is reached, `line` the connection, `heard` what becomes
//! of what is heard, `lists` what the database does not have, and `doorbell` whom it wakes, and what is counted.

mod doorbell;
mod heard;
mod line;
mod lists;
mod message;
mod settings;

pub(crate) use doorbell::Doorbell;
pub(crate) use line::{BusTask, start, try_out};
pub(crate) use lists::{List, ListChange, OwnLists, OwnerMark};
