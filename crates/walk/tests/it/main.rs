//! Walks at nodes with stand-in browsers, and what those are themselves.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends there")]

mod cluster;
mod standin;
mod stories;
mod walks;
