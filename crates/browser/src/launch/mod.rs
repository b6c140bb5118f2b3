//! Starting Chromium on a session's own profile.
//!
//! The one idea: the browser speaks through a pipe, never a debugging port, so that no other local user, page
//! or sandbox can reach it, and it dies with the holder of the pipe. What the caller read from the
//! environment is an argument here: this crate reads none.

mod agent;
mod confine;
mod error;
mod flags;
mod leftover;
pub mod lock;
mod options;
mod start;

pub use agent::{NotThisBrowser, expect_itself};
pub use confine::{Access, View, VisiblePath, available};
pub use error::LaunchError;
pub use flags::{NotSwitch, Switch, passes};
pub(crate) use leftover::is_of_browser;
pub use leftover::{kill_leftover, wait_until_free};
pub use lock::{LockState, wait_until_unclaimed};
pub use options::{ChromiumSandbox, Confine, Folder, LaunchOptions, find_browser, version};
pub use start::{Launched, start};
