//! The browser's own log, kept below 1 MiB: what it writes to its standard error.

use super::KeeperError;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncRead, AsyncReadExt};

/// At this size the log becomes `<log>.old` and starts anew, so both together stay below 1 MiB.
const HALF: u64 = 500 * 1024;

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

/// The last line of the log, to tell why a browser ended.
pub(super) fn last_line(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    Some(line.chars().take(300).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

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
