//! What the tests of all crates share: the seed of what is random, processes that stand still, and how a test says that
//! it tested nothing.
//!
//! The one idea: a test that is green has tested something, and one that is red can be had again. So a
//! test that finds no control groups ends with [`skip!`], which `cargo xtask test` counts and lists;
//! and what is random says its seed, which is new in each run.

#![allow(clippy::print_stdout, reason = "whoever runs a test reads it")]

mod frozen;
mod nobody;
mod seed;
mod skip;

pub use frozen::{freeze, wake};
pub use nobody::Nobody;
pub use seed::{Dice, SEED, asked_rounds, cases, rounds, seed};
pub use skip::skipped;
