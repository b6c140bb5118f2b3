//! Everything that touches Chromium: how Baton speaks to it, starts it, keeps it, reads and refills it.
//!
//! The one idea: a browser's life belongs to its [`keeper`], a small process that outlives the node;
//! all else here reaches the browser through the keeper's socket with the [`cdp`] client.

mod beginning;
pub mod capture;
pub mod cdp;
mod cookies;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub mod icon;
pub mod install;
pub mod keeper;
pub mod launch;
pub mod live;
mod plain;
pub mod profile;
pub mod record;
pub mod restore;
pub mod screen;
mod script;
mod targets;

pub use targets::{ContextId, MadeContext, TargetId};
