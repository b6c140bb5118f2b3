//! Stories of the board: many processes, kills, other programs, and what can be wrong with a folder.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends there")]

mod bad_input;
mod fixture;
mod foreign;
mod processes;
mod python;
mod sessions;
mod tasks;
mod watched;
mod worker;
