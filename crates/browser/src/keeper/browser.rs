//! The browser in a keeper's hands: started or attached to, watched, and ended.

use super::KeeperError;
use super::log::{self, Log};
use super::spec::{BrowserSpec, KeeperSpec};
use crate::cdp::{self, Transport};
use crate::launch;
use baton_session::Confinement;
use std::future;
use std::path::PathBuf;
use std::time::Duration;
use tokio::process::Child;

/// How long a killed browser may take to be gone.
const KILL_LIMIT: Duration = Duration::from_secs(5);

/// A browser that this keeper started, or one that it attached to.
pub(super) struct Browser {
    child: Option<Child>,
    /// Its process; none when it was attached.
    pub(super) pid: Option<u32>,
    /// By which rules the files of the machine are taken away from it.
    pub(super) rules: Confinement,
    log: PathBuf,
}

impl Browser {
    /// Starts the browser or attaches to it.
    pub(super) async fn open(spec: &KeeperSpec) -> Result<(Self, Transport), KeeperError> {
        let log = spec.log.clone();
        match &spec.browser {
            BrowserSpec::Attach { url } => {
                let transport = cdp::connect(url).await?;
                Ok((Self { child: None, pid: None, rules: Confinement::Off, log }, transport))
            }
            BrowserSpec::Launch(options) => {
                let writer = Log::open(&log)?;
                let launched = launch::start(options)?;
                if let Some(stderr) = launched.stderr {
                    tokio::spawn(writer.follow(stderr));
                }
                let (pid, rules) = (Some(launched.pid), launched.rules);
                let browser = Self { child: Some(launched.child), pid, rules, log };
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
        if tokio::time::timeout(KILL_LIMIT, child.wait()).await.is_err() {
            tracing::error!(pid = self.pid, "the browser did not end although it was killed");
        }
    }

    /// Why a browser that did not speak ended: its status and its last word.
    pub(super) fn obituary(&self, status: &str) -> String {
        let word = log::last_line(&self.log);
        let word = word.map(|line| format!("; its last word: {line}")).unwrap_or_default();
        format!("it ended ({status}){word}")
    }
}
