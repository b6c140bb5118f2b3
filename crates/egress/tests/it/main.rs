//! The way out, with real listeners on this machine.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends there")]

mod fixture;
mod reach;
mod upstreams;
