//! Asks all that runs in a sandbox to end, so that a browser writes down what it holds.

use rustix::process::{Pid, Signal, getpid, kill_process};
use std::time::{Duration, Instant};

/// How long what runs may take to end. Chromium needs well below a second.
const LIMIT: Duration = Duration::from_secs(5);
/// How often we look.
const PAUSE: Duration = Duration::from_millis(10);

/// Asks all processes but this one to end, and waits until they have, or for 5 s.
pub(super) fn settle() {
    for pid in others() {
        // It may have ended by itself.
        let _ = kill_process(pid, Signal::TERM);
    }
    let began = Instant::now();
    while began.elapsed() < LIMIT && !others().is_empty() {
        std::thread::sleep(PAUSE);
    }
}

/// All processes that this one sees, but itself.
fn others() -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let pids = names.filter_map(|name| Pid::from_raw(name.parse().ok()?));
    pids.filter(|pid| *pid != getpid()).collect()
}
