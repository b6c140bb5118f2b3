//! Asks all that runs in a sandbox to end, so that a browser writes down what it holds.
//!
//! The one idea: browsers first, and nobody else moves meanwhile. A browser is told by its first process
//! only, and has ended when its helpers have: what it holds is written by one of them (the network service
//! writes cookies). Whoever drives a browser may kill it as soon as it hangs up, and it hangs up before it
//! writes.

use super::processes::{Running, line, running, tell};
use rustix::process::{Pid, Signal};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

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
const PAUSE: Duration = Duration::from_millis(10);

/// Asks browsers, and then all others that this process has started, to end, and waits until they have, or for
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
        std::thread::sleep(PAUSE);
    }
    true
}
