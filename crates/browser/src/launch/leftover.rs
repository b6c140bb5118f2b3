//! Ending a browser of ours that nobody holds any more.
//!
//! A browser ends by itself when its keeper's end of the pipe closes, unless it hangs. Ours bear a
//! mark on their command line: a browser that a person started on the same profile is left alone.

use super::lock::{self, LockState};
use super::{LaunchError, flags};
use rustix::process::{Pid, Signal, kill_process_group};
use std::path::Path;

/// Kills the browser that holds `profile`, with its process group, if we started it (SIGKILL); true
/// when there was one. The caller has made sure that no keeper holds it.
pub fn kill_leftover(profile: &Path) -> Result<bool, LaunchError> {
    let LockState::InUse { pid } = lock::check(profile)? else { return Ok(false) };
    let ours = lock::arguments(pid).iter().any(|argument| argument == flags::MARK.as_bytes());
    let group = i32::try_from(pid).ok().and_then(Pid::from_raw).filter(|_| ours);
    let Some(group) = group else { return Ok(false) };
    tracing::warn!(pid, profile = %profile.display(), "killing a browser that lost its keeper");
    // One that is gone by now is what we want.
    let _ = kill_process_group(group, Signal::KILL);
    Ok(true)
}
