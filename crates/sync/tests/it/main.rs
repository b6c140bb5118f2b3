//! What nodes say to each other, without a network.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test ends there")]

mod forwarded;
mod messages;
mod signed_answers;
