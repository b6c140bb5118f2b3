//! A random walk over all verbs of a session at two nodes, and an oracle that looks at it after each step.
//!
//! The one idea: whatever is asked of the nodes, in whatever order and at once, and whatever breaks
//! meanwhile: a session never has two browsers, what was acknowledged is there, and a verb that failed has
//! changed nothing elsewhere. What happens comes from a seed, so that it can happen again.
//!
//! Rooms: `step` draws what happens, `walk` lets it happen, `judge` looks at how the session stands
//! (`ask`) and judges it by the kinds of the `oracle`, `run` walks many and makes short the one
//! that fails. They walk on any [`Stage`]: [`standin`] has one whose browsers are none, for walks
//! by the thousand, and [`TestNodes`] are real. [`cluster`] has schedules of its own, for three nodes that are one.

mod ask;
pub mod cluster;
mod judge;
mod oracle;
mod real_browser;
mod run;
mod stage;
pub mod standin;
mod step;
mod test_nodes;
mod walk;

pub use oracle::{Finding, Kind};
pub use run::{Followed, Plan, Tally, follow, run};
pub use stage::Stage;
pub use step::{Call, Rarities, Step, Verb, Who};
pub use test_nodes::TestNodes;
