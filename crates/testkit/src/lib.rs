//! What the tests of several crates share of nodes: for tests alone.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test ends there")]

pub mod peer;
