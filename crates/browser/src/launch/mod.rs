//! Starting Chromium on a session's own profile.
//!
//! The one idea: the browser speaks through a pipe, never a debugging port, so that no other local
//! user, page or sandbox can reach it, and it dies with whoever holds the pipe. What the caller
//! read from the environment is an argument here: this crate reads none.

mod agent;
mod claim;
mod confine;
mod error;
mod find;
mod flags;
mod leftover;
pub mod lock;
mod options;
mod quiet;
mod start;
mod switch;
mod wait;

pub use agent::{NotThisBrowser, expect_itself};
pub use claim::wait_until_unclaimed;
pub use confine::{Access, Seen, View, available};
pub use error::LaunchError;
pub use find::{find_browser, version};
pub use flags::passes;
pub(crate) use leftover::is_of_browser;
pub use leftover::kill_leftover;
pub use lock::LockState;
pub use options::{ChromiumSandbox, Confine, Folder, LaunchOptions};
pub use start::{Launched, start};
pub use switch::{NotSwitch, Switch};
pub use wait::wait_until_free;
