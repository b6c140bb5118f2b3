//! Knowing a browser of ours, and ending one that nobody holds any more.
//!
//! A browser ends by itself when its keeper's end of the pipe closes, unless it hangs. Ours bear a
//! mark on their command line: a browser that a person started on the same profile is left alone.

use super::error::LaunchError;
use super::flags;
use super::lock::{self, LockState};
use rustix::process::{Pid, Signal, getpgid, kill_process_group};
use std::path::Path;

/// Kills the browser that holds `profile`, with its process group, if we started it (SIGKILL); true
/// when there was one. The caller has made sure that no keeper holds it.
pub fn kill_leftover(profile: &Path) -> Result<bool, LaunchError> {
    let LockState::InUse { pid } = lock::check(profile)? else { return Ok(false) };
    let browser = i32::try_from(pid).ok().and_then(Pid::from_raw).filter(|_| is_ours(pid));
    // Where bubblewrap started it, that program leads its group.
    let Some(group) = browser.and_then(|browser| getpgid(Some(browser)).ok()) else {
        return Ok(false);
    };
    tracing::warn!(pid, profile = %profile.display(), "killing a browser that lost its keeper");
    // One that is gone by now is what we want.
    let _ = kill_process_group(group, Signal::KILL);
    Ok(true)
}

/// Whether a process is one of a browser that we started, or was started by one: it is in the group
/// that such a browser leads.
pub fn is_of_browser(pid: i32) -> bool {
    let group = Pid::from_raw(pid).and_then(|pid| getpgid(Some(pid)).ok());
    let leader = group.and_then(|group| u32::try_from(group.as_raw_nonzero().get()).ok());
    leader.is_some_and(is_ours)
}

/// Whether a process bears the mark of the browsers that we start.
fn is_ours(pid: u32) -> bool {
    lock::CommandLine::of(pid).has(flags::MARK.as_bytes())
}
