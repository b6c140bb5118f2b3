//! Asks all that runs in a sandbox to end, so that a browser writes down what it holds.
//!
//! The one idea: browsers first, and nobody else moves meanwhile. A browser is told by its first process
//! only, and has ended when its helpers have: what it holds is written by one of them (the network service
//! writes cookies). Whoever drives a browser may kill it as soon as it hangs up, and it hangs up before it
//! writes.

use rustix::process::{Pid, Signal, getpid, kill_process};
use std::collections::{HashMap, HashSet};
use std::iter::successors;
use std::time::{Duration, Instant};

/// What has Chromium close as if by hand. SIGTERM means to it that the machine goes down: it then ends at
/// once, and loses what it has not written for up to 30 s, as cookies
/// (`chrome/browser/chrome_browser_main_posix.cc`).
const CLOSE: Signal = Signal::INT;
/// What X servers are called.
const DISPLAYS: [&[u8]; 4] = [b"Xtigervnc", b"Xvnc", b"Xvfb", b"Xorg"];
/// How long browsers may take to write down what they hold. Chromium needs well below a second, but not
/// on a machine that has much else to do.
pub(crate) const BROWSERS_LIMIT: Duration = Duration::from_secs(20);
/// How long all others may take.
const OTHERS_LIMIT: Duration = Duration::from_secs(3);
/// How often we look.
const PAUSE: Duration = Duration::from_millis(10);

/// Asks browsers, and then all other processes but this one, to end, and waits until they have, or for
/// 23 s. Says whether all browsers have.
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
    fn of(all: &[Running]) -> Self {
        let parents: HashMap<Pid, Pid> =
            all.iter().filter_map(|one| Some((one.pid, one.parent?))).collect();
        let browsers: HashSet<Pid> =
            all.iter().filter(|one| one.leads()).map(|one| one.pid).collect();
        let mut kinds = Self::default();
        for one in all {
            // Ids that are used again while we look could close a circle, so steps are counted.
            let mut line =
                successors(parents.get(&one.pid), |pid| parents.get(pid)).take(all.len());
            let kind = if browsers.contains(&one.pid) {
                &mut kinds.browsers
            } else if line.any(|pid| browsers.contains(pid)) {
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

fn tell(processes: &[Pid], signal: Signal) {
    for pid in processes {
        // It may have ended by itself.
        let _ = kill_process(*pid, signal);
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
        std::thread::sleep(PAUSE);
    }
    true
}

/// A process, who started it, and the command line that it was started with.
struct Running {
    pid: Pid,
    /// None when it has ended meanwhile.
    parent: Option<Pid>,
    command: Vec<u8>,
}

impl Running {
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

/// All processes that this one sees, but itself. One that has ended, and whose parent has not heard of it,
/// has no command line any more (`proc(5)`).
fn running() -> Vec<Running> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let pids = names.filter_map(|name| Pid::from_raw(name.parse().ok()?));
    let others = pids.filter(|pid| *pid != getpid());
    let all = others.filter_map(|pid| {
        let command = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).ok()?;
        Some(Running { pid, parent: parent(pid), command })
    });
    all.filter(|one| !one.command.is_empty()).collect()
}

/// The second field after the name, which stands in brackets and may hold some itself (`proc(5)`).
fn parent(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    Pid::from_raw(fields.split_whitespace().nth(1)?.parse().ok()?)
}
