//! What persons are asked: which asks there are, and who is let in to one.
//!
//! The one idea: an ask is in memory and ends with the node; all that waits for it waits for its end, so whatever
//! ends it, ends the guest's picture, their turn and the agent's wait. Rooms: `table` has the asks and their
//! states, `sites` says what a guest may see.

mod sites;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use sites::Sites;
pub use table::AskRefusal;
pub(crate) use table::{Ask, AskVisit, Asks, NewAsk, OpenedBy};
