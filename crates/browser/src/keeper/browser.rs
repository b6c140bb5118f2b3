//! The browser in a keeper's hands: started or attached to, watched, and ended.

use super::error::KeeperError;
use super::log::{self, Log};
use super::spec::{BrowserSpec, KeeperSpec};
use crate::cdp::{self, Transport};
use crate::launch;
use baton_session::Confinement;
use std::future;
use std::path::PathBuf;
use std::time::Duration;
use tokio::process::Child;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long a killed browser may take to be gone.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// How long the last words of a browser that has ended may take.
const WORDS_LIMIT: Duration = Duration::from_secs(1);
/// What to do where the system lets Chromium make no sandbox.
const NO_SANDBOX: &str = "\nallow user namespaces to its user, or, where a container is the sandbox already, \
    set browser.sandbox = \"off\"";

/// A browser that this keeper started, or one that it attached to.
pub(super) struct Browser {
    child: Option<Child>,
    /// Its process; none when it was attached.
    pub(super) pid: Option<u32>,
    /// By which rules the files of the machine are taken away from it.
    pub(super) rules: Confinement,
    log: PathBuf,
    /// How much others had logged before it.
    logged: u64,
    /// What copies its words to the log.
    words: Option<JoinHandle<()>>,
}

impl Browser {
    /// Starts the browser or attaches to it.
    pub(super) async fn open(spec: &KeeperSpec) -> Result<(Self, Transport), KeeperError> {
        let log = spec.log.clone();
        match &spec.browser {
            BrowserSpec::Attach { url } => {
                let transport = cdp::connect(url).await?;
                let rules = Confinement::Off;
                let browser = Self { child: None, pid: None, rules, log, logged: 0, words: None };
                Ok((browser, transport))
            }
            BrowserSpec::Launch(options) => {
                let writer = Log::open(&log)?;
                let logged = writer.len();
                let launched = launch::start(options)?;
                let words = launched.stderr.map(|stderr| tokio::spawn(writer.follow(stderr)));
                let (child, pid, rules) =
                    (Some(launched.child), Some(launched.pid), launched.rules);
                let browser = Self { child, pid, rules, log, logged, words };
                Ok((browser, launched.transport))
            }
        }
    }

    /// Waits until the browser has ended, and says how. An attached one is never known to end here.
    pub(super) async fn ended(&mut self) -> String {
        match &mut self.child {
            None => future::pending().await,
            Some(child) => match child.wait().await {
                Ok(status) => status.to_string(),
                Err(error) => error.to_string(),
            },
        }
    }

    /// Kills what this keeper started, with all of its process group.
    pub(super) async fn kill(&mut self) {
        let Some(child) = &mut self.child else { return };
        let group = self.pid.and_then(|pid| i32::try_from(pid).ok());
        if let Some(group) = group.and_then(rustix::process::Pid::from_raw) {
            // A group that is gone already is what we want.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        if timeout(KILL_LIMIT, child.wait()).await.is_err() {
            tracing::error!(pid = self.pid, "the browser did not end although it was killed");
        }
    }

    /// Why a browser that did not speak ended: its status and what it said of it; and what to do, where that
    /// is known.
    pub(super) async fn obituary(&mut self, status: &str) -> String {
        if let Some(words) = self.words.take() {
            // A helper that lives on may hold its standard error open.
            let _ = timeout(WORDS_LIMIT, words).await;
        }
        let Some(reason) = log::reason(&self.log, self.logged, self.pid.unwrap_or_default()) else {
            return format!("it ended ({status})");
        };
        let hint = if reason.contains("sandbox") { NO_SANDBOX } else { "" };
        format!("it ended ({status}): {reason}{hint}")
    }
}
