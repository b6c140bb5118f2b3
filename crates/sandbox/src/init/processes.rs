//! What runs below this process.

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, kill_process_group, waitid,
};
use std::collections::HashMap;
use std::iter::successors;
use std::time::{Duration, Instant};

/// What X servers are called.
const DISPLAYS: [&[u8]; 4] = [b"Xtigervnc", b"Xvnc", b"Xvfb", b"Xorg"];

/// How long we try to end what runs.
const LIMIT: Duration = Duration::from_secs(5);
/// How often we look.
const PAUSE: Duration = Duration::from_millis(5);

/// How often we look at our own children before we look at all that runs.
const QUICK_LOOKS: usize = 100;

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

/// Ends all that runs below this process, whether it likes to or not, and waits until it has. Says whether
/// it has in time.
pub(super) fn end_all() -> bool {
    let until = Instant::now() + LIMIT;
    while has_children() {
        if Instant::now() >= until {
            return false;
        }
        if getpid().is_init() {
            // The first of its namespace ends all others in one go (`kill(-1)`): nobody can run away.
            let _ = kill_process_group(Pid::INIT, Signal::KILL);
        } else {
            // Whoever starts itself anew all the time is left to us each time, and found sooner than by a
            // look at all that runs.
            (0..QUICK_LOOKS).for_each(|_| tell(&children(), Signal::KILL));
            let left: Vec<Pid> = running().iter().map(|one| one.pid).collect();
            tell(&left, Signal::KILL);
        }
        std::thread::sleep(PAUSE);
    }
    true
}

/// Whether there is anything below this process: what loses its parent is left to this one.
fn has_children() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    !matches!(waitid(WaitId::All, look), Err(Errno::CHILD))
}

/// What this process has started, or was left (`proc_pid_task(5)`).
fn children() -> Vec<Pid> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let all: Vec<String> = lists.collect();
    let pids = all.iter().flat_map(|list| list.split_whitespace());
    pids.filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

/// The second field after the name, which stands in brackets and may hold some itself (`proc(5)`).
fn parent(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    Pid::from_raw(fields.split_whitespace().nth(1)?.parse().ok()?)
}
