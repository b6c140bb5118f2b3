//! Processes that stand still, and are there all the same.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a process may take to stand still.
const LIMIT: Duration = Duration::from_mins(1);

/// Stops a process where it stands (SIGSTOP); [`wake`] lets it go on. It stands still when this returns: its threads run
/// until one of them comes to see the signal, which on a busy machine takes as long as it takes. Blocks.
///
/// # Errors
///
/// When there is no such process, or it still runs after a minute.
pub fn freeze(pid: u32) -> io::Result<()> {
    kill_process(known(pid)?, Signal::STOP)?;
    let end = Instant::now() + LIMIT;
    while !stands_still(pid)? {
        if Instant::now() >= end {
            wake(pid)?;
            let why = format!("expected process {pid} to stand still within {LIMIT:?}");
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Lets a process go on that was frozen (SIGCONT).
///
/// # Errors
///
/// When there is no such process.
pub fn wake(pid: u32) -> io::Result<()> {
    Ok(kill_process(known(pid)?, Signal::CONT)?)
}

/// Whether no thread of a process runs. One that ended meanwhile runs no more.
fn stands_still(pid: u32) -> io::Result<bool> {
    let threads = fs::read_dir(format!("/proc/{pid}/task"))?.flatten();
    let mut status = threads.filter_map(|one| fs::read_to_string(one.path().join("stat")).ok());
    Ok(status.all(|status| matches!(state(&status), Some('T' | 't' | 'X' | 'Z'))))
}

/// What a thread does just now, a letter of `proc_pid_stat(5)`. It follows the program's name, which stands in parentheses
/// and may hold anything.
fn state(status: &str) -> Option<char> {
    status.rsplit_once(") ")?.1.chars().next()
}

fn known(pid: u32) -> io::Result<Pid> {
    let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
    raw.ok_or_else(|| io::Error::other(format!("expected a process id, found {pid}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_stands_still_once_it_is_frozen_and_goes_on_once_it_is_woken() {
        let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let frozen = freeze(busy.id()).and_then(|()| stands_still(busy.id()));
        let woken = wake(busy.id());
        while woken.is_ok() && stands_still(busy.id()).unwrap_or_default() {}
        busy.kill().unwrap();
        busy.wait().unwrap();
        assert!(frozen.unwrap() && woken.is_ok());
        assert!(freeze(0).is_err());
    }
}
