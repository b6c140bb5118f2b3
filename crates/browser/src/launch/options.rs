//! What a browser is started with.

use baton_session::Environment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Everything that a launch needs; nothing else is read from anywhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaunchOptions {
    /// The Chromium program, as [`find_browser`](super::find_browser) returns it.
    pub program: PathBuf,
    /// The user data dir; made when it is missing.
    pub profile: PathBuf,
    /// Whether the browser shows windows.
    pub headed: bool,
    /// What pages see. Time zone, language, user agent and window size are given at launch;
    /// geolocation is the keeper's prelude.
    pub environment: Environment,
    /// Further command line switches, after ours.
    #[serde(default)]
    pub extra_args: Vec<String>,
    /// The caller's environment variables; only those that a browser needs are passed on.
    #[serde(default)]
    pub inherited: BTreeMap<String, String>,
    /// Whether a lock of another host may be removed, because the lease says that it is dead.
    #[serde(default)]
    pub break_foreign_lock: bool,
}
