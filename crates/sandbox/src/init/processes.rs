//! What runs below the first process of a sandbox: found, asked to end, ended, and which signals it hears.

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, kill_process_group, waitid,
};
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::collections::{HashMap, HashSet};
use std::io;
use std::iter::successors;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
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
struct StartedProcess {
    pid: Pid,
    parent: Pid,
    command: Vec<u8>,
}

impl StartedProcess {
    /// Whether it is the first of a Chromium: that names its profile, and its helpers name their kind
    /// (`content/public/common/content_switches.cc`).
    fn leads(&self) -> bool {
        self.says(b"--user-data-dir") && !self.says(b"--type=")
    }

    /// Whether it is an X server.
    fn is_display(&self) -> bool {
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
fn running() -> Vec<StartedProcess> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let pids = names.filter_map(|name| Pid::from_raw(name.parse().ok()?));
    let parents: HashMap<Pid, Pid> = pids.filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let us = getpid();
    let ours = parents.iter().filter(|(pid, _)| line(&parents, **pid).any(|above| above == us));
    let all = ours.filter_map(|(pid, parent)| {
        let command = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).ok()?;
        Some(StartedProcess { pid: *pid, parent: *parent, command })
    });
    all.filter(|one| !one.command.is_empty()).collect()
}

/// Who started a process, and who that, and so on.
fn line(parents: &HashMap<Pid, Pid>, pid: Pid) -> impl Iterator<Item = Pid> {
    // Ids that are used again while we look could close a circle, so steps are counted.
    successors(parents.get(&pid), |pid| parents.get(pid)).take(parents.len()).copied()
}

/// Sends a signal to some processes.
fn tell(processes: &[Pid], signal: Signal) {
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
            // The first of its namespace ends all others in one go (`kill(-1)`): no process can run away.
            let _ = kill_process_group(Pid::INIT, Signal::KILL);
        } else {
            // A process that starts itself anew all the time is left to us each time, and found sooner than
            // by a look at all that runs.
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

/// The second field after the name, which is in brackets and may hold some itself (`proc(5)`).
fn parent(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    Pid::from_raw(fields.split_whitespace().nth(1)?.parse().ok()?)
}

/// What has Chromium close as if by hand. SIGTERM means to it that the machine goes down: it then ends at
/// once, and loses what it has not written for up to 30 s, as cookies
/// (`chrome/browser/chrome_browser_main_posix.cc`).
const CLOSE: Signal = Signal::INT;
/// How long browsers may take to write down what they hold. Chromium needs well below a second, but not
/// on a machine that has much else to do.
pub(crate) const BROWSERS_LIMIT: Duration = Duration::from_secs(20);
/// How long all others may take.
const OTHERS_LIMIT: Duration = Duration::from_secs(3);
/// How often we look.
const LOOKS_PAUSE: Duration = Duration::from_millis(10);

/// Asks browsers, and then all others that this process has started, to end, and waits until they have, or for
/// 23 s. Says whether all browsers have.
///
/// Browsers first, and no other process moves meanwhile. A browser hears it by its first process only, and
/// has ended when its helpers have: what it holds is written by one of them (the network service writes
/// cookies). A program that drives a browser may kill it as soon as it hangs up, and it hangs up before it
/// writes.
pub(super) fn settle() -> bool {
    let Kinds { browsers, helpers, drivers } = Kinds::of(&running());
    if !browsers.is_empty() {
        tell(&drivers, Signal::STOP);
    }
    tell(&browsers, CLOSE);
    let whole = wait(&[browsers, helpers].concat(), BROWSERS_LIMIT);
    let rest: Vec<Pid> = running().iter().map(|one| one.pid).collect();
    tell(&rest, Signal::TERM);
    tell(&rest, Signal::CONT);
    wait(&rest, OTHERS_LIMIT);
    whole
}

/// What runs, by what it has to do with browsers.
#[derive(Default)]
struct Kinds {
    /// The first process of each.
    browsers: Vec<Pid>,
    /// What these have started, and what that has.
    helpers: Vec<Pid>,
    /// All others, but for displays: a browser with a window waits for its display.
    drivers: Vec<Pid>,
}

impl Kinds {
    fn of(all: &[StartedProcess]) -> Self {
        let parents: HashMap<Pid, Pid> = all.iter().map(|one| (one.pid, one.parent)).collect();
        let browsers: HashSet<Pid> =
            all.iter().filter(|one| one.leads()).map(|one| one.pid).collect();
        let mut kinds = Self::default();
        for one in all {
            let kind = if browsers.contains(&one.pid) {
                &mut kinds.browsers
            } else if line(&parents, one.pid).any(|pid| browsers.contains(&pid)) {
                &mut kinds.helpers
            } else if one.is_display() {
                continue;
            } else {
                &mut kinds.drivers
            };
            kind.push(one.pid);
        }
        kinds
    }
}

/// Waits until some processes have ended. Says whether they have.
fn wait(processes: &[Pid], limit: Duration) -> bool {
    let until = Instant::now() + limit;
    let is_there = || running().iter().any(|one| processes.contains(&one.pid));
    while is_there() {
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(LOOKS_PAUSE);
    }
    true
}

/// The signals with which people and nodes end programs.
const ENDING: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// Has all that is started from now on hear the signals that end programs, which this process goes on to
/// ignore if it does.
///
/// A shell that starts a program in the background of a script has it ignore Ctrl-C, and `nohup` that the
/// terminal is gone (POSIX, `sh`, "Signals and Error Handling"); all that it starts inherits that, and a
/// shell cannot undo it with a trap. A node may be started so, but a browser in a sandbox is asked to close
/// with the first of these signals. What has a handler is not ignored, and a program that is started then
/// hears it as usual.
pub(super) fn hear() -> io::Result<()> {
    let ignored = ignored(&std::fs::read_to_string("/proc/self/status")?);
    for signal in ENDING.into_iter().filter(|signal| ignored & (1 << (signal - 1)) != 0) {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

/// The signals that a process ignores, a bit each, as `/proc/PID/status` has them (`proc_pid_status(5)`).
fn ignored(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{SIGINT, ignored};

    #[test]
    fn what_is_ignored_is_read_as_the_kernel_writes_it() {
        assert_eq!(ignored("Name:\tx\nSigIgn:\t0000000000000002\n"), 1 << (SIGINT - 1));
        assert_eq!(ignored("Name:\tx\n"), 0);
    }
}
