//! Which signals those hear that run in a sandbox.
//!
//! The one idea: whoever starts a program in the background of a script has it ignore Ctrl-C, and `nohup`
//! that the terminal is gone (POSIX, `sh`, "Signals and Error Handling"); all that it starts inherits that,
//! and a shell cannot undo it with a trap. A node may be started so, but a browser in a sandbox is asked to
//! close with the first of these signals. What has a handler is not ignored, and a program that is started
//! then hears it as usual.

use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The signals with which people and nodes end programs.
const ENDING: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// Has all that is started from now on hear the signals that end programs, which this process goes on to
/// ignore if it does.
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
