//! The stories of sandboxes: what runs in one, what it cannot reach, and that nothing is left of it.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod bare;
mod commands;
mod escapes;
mod fixture;
mod hostile;
mod leaks;
mod limits;
mod network;
mod tools;
