//! Instants as a disk tells them, and as Chromium counts them.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Microseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instant(pub i64);

/// From 1601, where Chromium begins to count (`base::Time`), to 1970.
const BETWEEN: i64 = 11_644_473_600_000_000;

impl Instant {
    /// From microseconds as Chromium counts them.
    pub(crate) fn from_chromium(micros: i64) -> Option<Self> {
        (micros > 0).then(|| Self(micros.saturating_sub(BETWEEN)))
    }

    /// In microseconds as Chromium counts them.
    pub(crate) fn to_chromium(self) -> i64 {
        self.0.saturating_add(BETWEEN)
    }
}

/// How deep folders are looked into.
const DEPTH: usize = 6;

/// When a file, or the newest one of a folder, was written; none when it is not there.
pub(super) fn written(path: &Path) -> Option<Instant> {
    newest(path, 0)
}

/// The newest instant below a path, but for locks and logs, which tell of no change.
fn newest(path: &Path, depth: usize) -> Option<Instant> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if depth > DEPTH
        || matches!(&*name, "LOCK" | "LOG" | "LOG.old")
        || name.starts_with("QuotaManager")
    {
        return None;
    }
    let found = fs::symlink_metadata(path).ok()?;
    if found.is_dir() {
        let entries = fs::read_dir(path).ok()?.flatten();
        return entries.filter_map(|entry| newest(&entry.path(), depth + 1)).max();
    }
    let written = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Instant(i64::try_from(written.as_micros()).unwrap_or(i64::MAX)))
}
