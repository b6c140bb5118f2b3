//! What runs below this process.

use rustix::process::{Pid, Signal, getpid, kill_process};
use std::collections::HashMap;
use std::iter::successors;

/// What X servers are called.
const DISPLAYS: [&[u8]; 4] = [b"Xtigervnc", b"Xvnc", b"Xvfb", b"Xorg"];

/// A process, who started it, and the command line that it was started with.
pub(super) struct Running {
    pub(super) pid: Pid,
    pub(super) parent: Pid,
    command: Vec<u8>,
}

impl Running {
    /// Whether it is the first of a Chromium: that names its profile, and its helpers name their kind
    /// (`content/public/common/content_switches.cc`).
    pub(super) fn leads(&self) -> bool {
        self.says(b"--user-data-dir") && !self.says(b"--type=")
    }

    /// Whether it is an X server.
    pub(super) fn is_display(&self) -> bool {
        let program = self.command.split(|byte| *byte == 0).next().unwrap_or_default();
        let name = program.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        DISPLAYS.contains(&name)
    }

    fn says(&self, start: &[u8]) -> bool {
        self.command.split(|byte| *byte == 0).any(|word| word.starts_with(start))
    }
}

/// What this process has started, what that has, and what was left to this one by those that have ended.
/// One that has ended itself, and whose parent has not heard of it, has no command line any more
/// (`proc(5)`).
pub(super) fn running() -> Vec<Running> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let pids = names.filter_map(|name| Pid::from_raw(name.parse().ok()?));
    let parents: HashMap<Pid, Pid> = pids.filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let us = getpid();
    let ours = parents.iter().filter(|(pid, _)| line(&parents, **pid).any(|above| above == us));
    let all = ours.filter_map(|(pid, parent)| {
        let command = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).ok()?;
        Some(Running { pid: *pid, parent: *parent, command })
    });
    all.filter(|one| !one.command.is_empty()).collect()
}

/// Who started a process, and who that, and so on.
pub(super) fn line(parents: &HashMap<Pid, Pid>, pid: Pid) -> impl Iterator<Item = Pid> {
    // Ids that are used again while we look could close a circle, so steps are counted.
    successors(parents.get(&pid), |pid| parents.get(pid)).take(parents.len()).copied()
}

/// Sends a signal to some processes.
pub(super) fn tell(processes: &[Pid], signal: Signal) {
    for pid in processes {
        // It may have ended by itself.
        let _ = kill_process(*pid, signal);
    }
}

/// The second field after the name, which stands in brackets and may hold some itself (`proc(5)`).
fn parent(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    Pid::from_raw(fields.split_whitespace().nth(1)?.parse().ok()?)
}
