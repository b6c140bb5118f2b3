//! Tests that look inside: writers that are killed between any two steps.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends there")]

mod any_order;
mod ending;
mod locks;
mod log;
mod world;
