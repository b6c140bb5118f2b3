//! Schedules of a cluster: what is asked of three nodes that are one, and what breaks around them.
//!
//! The one idea: whatever is asked, killed, stopped, cut off or started anew, and in whatever order, a session never has
//! two browsers, what was acknowledged is there, nobody is told of an absence that is none, and once everything reaches
//! everything again, all nodes say the same within half a minute.
//!
//! Rooms: `machines` is what a schedule needs of nodes, which are stand-ins (`standins`) or `real`; `ground` is the
//! cluster that they are, with a real PostgreSQL and a real NATS at the end of a cable each;
//! `schedule` draws what happens, `walk` lets it happen and remembers what was acknowledged, `settle` judges the end,
//! `run` walks many.

mod ground;
mod machines;
mod real;
mod run;
mod schedule;
mod settle;
mod standins;
mod walk;

pub use ground::{Cluster, Line};
pub use machines::{Held, Machines, Seat};
pub use real::RealMachines;
pub use run::{follow_schedule, run_schedules};
pub use schedule::{Ask, Event};
pub use standins::StandInMachines;
