//! What a keeper gets at its start, and what it answers; and the clock that both sides share.
//!
//! The clock is the time since the machine was started. It cannot be set, and goes on while the machine
//! sleeps. So an instant of it means the same in both processes, however long one of them was stopped before
//! it could say it.

use crate::launch::LaunchOptions;
use baton_session::{Confinement, SessionId};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;
use tokio::time::sleep;

/// Everything that a keeper needs for its life; it reads it as JSON from its standard input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeeperSpec {
    /// The session whose browser it holds.
    pub session: SessionId,
    /// Where it listens: at most 107 bytes, in a folder that only its user may enter.
    pub socket: PathBuf,
    /// The browser.
    pub browser: BrowserSpec,
    /// Where it and its browser log; kept below 1 MiB.
    pub log: PathBuf,
    /// Until when its browser lives unless the node gives it more time; none means that it does not
    /// need the node. For nodes that share a database: when this one falls silent, another one may
    /// run the session.
    #[serde(default)]
    pub hold_until: Option<BootInstant>,
    /// What must hold for every page from its first script on.
    #[serde(default)]
    pub prelude: Vec<PreludeCall>,
}

/// Which browser a keeper holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrowserSpec {
    /// Start one, and end with it.
    Launch(Box<LaunchOptions>),
    /// Attach to one that runs; it is left running when the keeper ends.
    Attach {
        /// Its CDP address, `http://…` or `ws://…`.
        url: String,
    },
}

/// A call that the keeper makes for every page and frame before its first script, or once if it is
/// of the domain `Browser`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreludeCall {
    /// A CDP method, such as `Emulation.setGeolocationOverride`.
    pub method: String,
    /// Its parameters.
    #[serde(default)]
    pub params: Value,
}

/// A keeper that listens and whose browser speaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The keeper's process.
    pub pid: u32,
    /// The browser's process; none when it was attached.
    pub browser_pid: Option<u32>,
    /// What the browser says of itself, such as `Chrome/156.0.8078.79`.
    pub browser_version: String,
    /// By which rules the files of the machine are taken away from the browser.
    pub confinement: Confinement,
}

/// The one line that a keeper writes to its standard output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Report {
    /// It runs.
    Ready(Ready),
    /// It could not start, and ends.
    Error(String),
}

/// The longest sleep: a timer does not go on while the machine sleeps, and has to be looked at then.
const STEP: Duration = Duration::from_secs(1);

/// An instant of this machine, since its start (`CLOCK_BOOTTIME`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BootInstant(Duration);

impl BootInstant {
    /// Now.
    pub fn now() -> Self {
        let now = clock_gettime(ClockId::Boottime);
        let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
        Self(Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default()))
    }

    /// So much later.
    #[must_use]
    pub fn after(self, time: Duration) -> Self {
        Self(self.0.saturating_add(time))
    }

    /// Waits until then.
    pub(super) async fn reached(self) {
        loop {
            let left = self.0.saturating_sub(Self::now().0);
            if left.is_zero() {
                return;
            }
            sleep(left.min(STEP)).await;
        }
    }
}
