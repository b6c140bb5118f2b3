//! The browser in a keeper's hands: started or attached to, watched, ended, and its own log kept below
//! 1 MiB.

use super::protocol::{BrowserSpec, KeeperError, KeeperSpec};
use crate::cdp::Transport;
use crate::launch::LaunchOptions;
use crate::{cdp, launch};
use baton_session::Confinement;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;
use std::{fs, future, io};
use tokio::io::{AsyncRead, AsyncReadExt};
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
    /// Where its words are kept; none where they go to whoever started this process.
    log: Option<PathBuf>,
    /// How much others had logged before it.
    logged: u64,
    /// What copies its words to the log.
    words: Option<JoinHandle<()>>,
}

impl Browser {
    /// Starts the browser or attaches to it. `way_out` is the port of its only way out to the network.
    pub(super) async fn open(
        spec: &KeeperSpec,
        way_out: Option<u16>,
    ) -> Result<(Self, Transport), KeeperError> {
        let log = Some(spec.log.clone());
        match &spec.browser {
            BrowserSpec::Attach { url } => {
                let transport = cdp::connect(url).await?;
                let rules = Confinement::Off;
                let browser = Self { child: None, pid: None, rules, log, logged: 0, words: None };
                Ok((browser, transport))
            }
            BrowserSpec::Launch(options) => {
                let writer = Log::open(&spec.log)?;
                let logged = writer.len();
                let options = LaunchOptions { way_out, ..LaunchOptions::clone(options) };
                let launched = launch::start(&options)?;
                let words = launched.stderr.map(|stderr| tokio::spawn(writer.follow(stderr)));
                let (child, pid, rules) =
                    (Some(launched.child), Some(launched.pid), launched.rules);
                let browser = Self { child, pid, rules, log, logged, words };
                Ok((browser, launched.transport))
            }
        }
    }

    /// One that was started elsewhere.
    pub(super) fn of_child(child: Child) -> Self {
        let (pid, rules) = (child.id(), Confinement::Off);
        Self { child: Some(child), pid, rules, log: None, logged: 0, words: None }
    }

    /// How it ended, once it has; none before, and of one that was attached.
    pub(super) fn status(&mut self) -> Option<ExitStatus> {
        self.child.as_mut()?.try_wait().ok()?
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
        let pid = self.pid.unwrap_or_default();
        let said = self.log.as_deref().and_then(|log| reason(log, self.logged, pid));
        let Some(reason) = said else {
            return format!("it ended ({status})");
        };
        let hint = if reason.contains("sandbox") { NO_SANDBOX } else { "" };
        format!("it ended ({status}): {reason}{hint}")
    }
}

/// At this size the log becomes `<log>.old` and starts anew, so both together stay below 1 MiB.
const HALF: u64 = 500 * 1024;

/// How many characters of a line are shown.
const LINE: usize = 300;

/// Opens a log to append to, for its user's eyes only.
pub(super) fn open(path: &Path) -> Result<File, KeeperError> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
        .map_err(KeeperError::file("open", path))
}

/// A log that other processes may append to as well.
pub(super) struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// Opens the log at `path`.
    pub(super) fn open(path: &Path) -> Result<Self, KeeperError> {
        Ok(Self { path: path.to_owned(), file: open(path)? })
    }

    /// How long it is by now.
    pub(super) fn len(&self) -> u64 {
        self.file.metadata().map_or(0, |file| file.len())
    }

    /// Copies all that `source` says, to its end. What cannot be written is lost, never waited for.
    pub(super) async fn follow(mut self, mut source: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; 8192];
        let mut failed = false;
        while let Ok(read @ 1..) = source.read(&mut buffer).await {
            if let Err(error) = self.append(&buffer[..read])
                && !std::mem::replace(&mut failed, true)
            {
                tracing::warn!(path = %self.path.display(), %error, "the log cannot be written");
            }
        }
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.file.metadata()?.len() > HALF {
            let mut old = self.path.clone().into_os_string();
            old.push(".old");
            // Copied, not renamed: the keeper's own standard error is this very file.
            fs::copy(&self.path, old)?;
            self.file.set_len(0)?;
        }
        self.file.write_all(bytes)
    }
}

/// The last line of the log, to tell why a keeper ended.
pub(super) fn last_line(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(line.chars().take(LINE).collect())
}

/// Why a browser ended, by what it has logged from that byte on: what Chromium calls fatal, which its helpers
/// follow with complaints of their own; else the last error of its first process; else the last line that is
/// not the keeper's.
pub(super) fn reason(path: &Path, from: u64, pid: u32) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    // What is shorter by now began anew.
    let said = usize::try_from(from).ok().and_then(|from| bytes.get(from..)).unwrap_or(&bytes);
    let text = String::from_utf8_lossy(said);
    let lines: Vec<&str> =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !is_ours(line)).collect();
    // `[<pid>:<thread>:<time>:FATAL:<file>:<line>] <text>` (Chromium, `base/logging.cc`).
    let fatal = lines.iter().find_map(|line| line.split_once(":FATAL:")?.1.split_once("] "));
    let of_browser = format!("[{pid}:");
    let mut errors = lines.iter().rev().filter(|line| line.starts_with(&of_browser));
    let error = || errors.find_map(|line| line.split_once(":ERROR:")?.1.split_once("] "));
    let found = match fatal.or_else(error) {
        Some((_, text)) => text,
        None => lines.last()?,
    };
    Some(found.chars().take(LINE).collect())
}

/// Whether a line is the keeper's own, which begins with the time: `2026-11-25T15:02:17.081122Z`.
fn is_ours(line: &str) -> bool {
    let is_time = |byte: u8| byte.is_ascii_digit() || b"-T:.Z".contains(&byte);
    line.split_once("Z ").is_some_and(|(time, _)| time.len() > 18 && time.bytes().all(is_time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_chromium_calls_fatal_is_its_reason_and_what_others_ended_of_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keeper.log");
        let before = "[1:1:1125/1.1:FATAL:a.cc:1] of the browser before\n";
        fs::write(&path, before).unwrap();
        let from = before.len().try_into().unwrap();
        assert_eq!(reason(&path, from, 2), None);
        let said = "[2:2:1125/1.2:ERROR:dbus.cc:9] no bus\n\
            [2:2:1125/1.2:FATAL:content/zygote_host_impl_linux.cc:132] No usable sandbox! If you are\n\
            [3:3:1125/1.2:ERROR:crashpad.cc:1] open scaling_cur_freq\n\n";
        fs::write(&path, format!("{before}{said}")).unwrap();
        let told = |pid| reason(&path, from, pid);
        assert_eq!(told(2).as_deref(), Some("No usable sandbox! If you are"));
        // With other switches it calls that an error.
        fs::write(&path, format!("{before}{}", said.replace("FATAL", "ERROR"))).unwrap();
        assert_eq!(told(2).as_deref(), Some("No usable sandbox! If you are"));
        let own = "2026-11-25T15:02:17.081122Z  WARN baton_browser: the connection broke\n";
        fs::write(&path, format!("{before}cannot open display\n\n{own}")).unwrap();
        assert_eq!(told(2).as_deref(), Some("cannot open display"));
    }

    #[tokio::test]
    async fn a_talkative_browser_cannot_fill_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keeper.log");
        let spoken = "word\n".repeat(400_000);
        Log::open(&path).unwrap().follow(spoken.as_bytes()).await;
        let size = |name: &str| fs::metadata(folder.path().join(name)).unwrap().len();
        assert!(size("keeper.log") + size("keeper.log.old") < 1024 * 1024);
        assert_eq!(last_line(&path).as_deref(), Some("word"));
    }
}
