//! Asks all that runs in a sandbox to end, so that a browser writes down what it holds.
//!
//! The one idea: browsers first, and of a browser its first process only. Whoever drives a browser may
//! kill it when told to end, and a browser whose helpers have ended writes nothing any more.

use rustix::process::{Pid, Signal, getpid, kill_process};
use std::time::{Duration, Instant};

/// How long what runs may take to end. Chromium needs well below a second.
const LIMIT: Duration = Duration::from_secs(5);
/// How long of that browsers may take.
const BROWSERS_LIMIT: Duration = Duration::from_secs(3);
/// How often we look.
const PAUSE: Duration = Duration::from_millis(10);

/// Asks browsers, and then all other processes but this one, to end, and waits until they have, or for
/// 5 s.
pub(super) fn settle() {
    let began = Instant::now();
    end(is_browser, began + BROWSERS_LIMIT);
    end(|_| true, began + LIMIT);
}

/// Asks some processes to end, and waits for them.
fn end(chosen: impl Fn(Pid) -> bool, until: Instant) {
    let asked: Vec<Pid> = others().into_iter().filter(|pid| chosen(*pid)).collect();
    for pid in &asked {
        // It may have ended by itself.
        let _ = kill_process(*pid, Signal::TERM);
    }
    while Instant::now() < until && others().iter().any(|pid| asked.contains(pid)) {
        std::thread::sleep(PAUSE);
    }
}

/// Whether a process is the first of a Chromium: it names its profile, and its helpers name their kind
/// (`content/public/common/content_switches.cc`).
fn is_browser(pid: Pid) -> bool {
    let path = format!("/proc/{}/cmdline", pid.as_raw_nonzero());
    let words = std::fs::read(path).unwrap_or_default();
    let has = |start: &[u8]| words.split(|byte| *byte == 0).any(|word| word.starts_with(start));
    has(b"--user-data-dir") && !has(b"--type=")
}

/// All processes that this one sees, but itself.
fn others() -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let pids = names.filter_map(|name| Pid::from_raw(name.parse().ok()?));
    pids.filter(|pid| *pid != getpid()).collect()
}
