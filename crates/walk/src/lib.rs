//! A random walk over all verbs of a session at two nodes, and an oracle that looks at it after each step.
//!
//! Rooms: [`standin`] has nodes whose browsers are none.

pub mod standin;
