//! The contract, as a program sees it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends there")]

mod code;
mod debug;
mod wire;
