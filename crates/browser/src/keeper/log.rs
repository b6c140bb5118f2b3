//! The browser's own log, kept below 1 MiB: what it writes to its standard error.

use super::error::KeeperError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncRead, AsyncReadExt};

/// At this size the log becomes `<log>.old` and starts anew, so both together stay below 1 MiB.
const HALF: u64 = 500 * 1024;

/// How many characters of a line are told.
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
