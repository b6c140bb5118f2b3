//! Ending processes the hard way: SIGKILL, which no program can answer or prepare for.

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::fs;
use std::path::Path;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a killed process may take to be gone.
const LIMIT: Duration = Duration::from_mins(1);

/// Kills all processes one right after the other and waits until none of them lives.
pub async fn kill_all(victims: &[(&str, u32)]) -> Result<()> {
    for (name, pid) in victims {
        kill_process(known(*pid)?, Signal::KILL)
            .with_context(|| format!("could not kill the {name}, process {pid}"))?;
    }
    wait_for_the_end(victims, LIMIT).await
}

/// Kills a process (SIGKILL) that may be gone already.
pub fn kill(pid: u32) {
    let _ = known(pid).map(|pid| kill_process(pid, Signal::KILL));
}

/// Every process but this one whose command line or environment names a folder, or whatever else is as
/// unlike all others.
pub fn naming(folder: impl AsRef<Path>) -> Vec<u32> {
    let folder = folder.as_ref().to_string_lossy();
    let names = |pid: u32, file: &str| {
        let text = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        String::from_utf8_lossy(&text).contains(&*folder)
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| *pid != std::process::id())
        .filter(|pid| names(*pid, "cmdline") || names(*pid, "environ"))
        .collect()
}

/// Asks a process to end (SIGTERM).
pub fn ask_to_end(pid: u32) -> Result<()> {
    kill_process(known(pid)?, Signal::TERM)
        .with_context(|| format!("could not reach process {pid}"))
}

/// Interrupts a process as Ctrl-C does (SIGINT).
pub fn interrupt(pid: u32) -> Result<()> {
    kill_process(known(pid)?, Signal::INT).with_context(|| format!("could not reach process {pid}"))
}

/// Tells a node to read its settings again (SIGHUP).
pub fn tell_to_read_again(pid: u32) -> Result<()> {
    kill_process(known(pid)?, Signal::HUP).with_context(|| format!("could not reach process {pid}"))
}

/// Whether a process holds a file, or a part of one, for itself alone, as SQLite does while it writes
/// (`proc_locks(5)`: number, kind, mode, access, process).
pub fn holds_a_file(pid: u32) -> Result<bool> {
    let locks = fs::read_to_string("/proc/locks").context("could not read /proc/locks")?;
    let pid = pid.to_string();
    Ok(locks.lines().any(|line| {
        let fields: Vec<_> = line.split_ascii_whitespace().collect();
        matches!(fields[..], [_, "POSIX", _, "WRITE", holder, ..] if holder == pid)
    }))
}

/// Waits until none of these processes lives.
pub async fn wait_for_the_end(victims: &[(&str, u32)], limit: Duration) -> Result<()> {
    let end = Instant::now() + limit;
    while let Some((name, pid)) = victims.iter().find(|(_, pid)| is_alive(*pid)) {
        if Instant::now() >= end {
            bail!("expected the {name}, process {pid}, to be dead within {limit:?}");
        }
        sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}

/// Waits until processes that were ended are gone. What they held is free before that: the kernel lets go of
/// a file's lock while it is still ending the process that had it.
pub async fn are_gone(victims: &[(&str, u32)]) -> Result<()> {
    wait_for_the_end(victims, LIMIT).await
}

/// Whether a process runs. One that is dead and only waits for its parent to notice does not; but the
/// first of its threads may look so while others still hold its files and sockets.
pub fn is_alive(pid: u32) -> bool {
    let exists = known(pid).is_ok_and(|pid| test_kill_process(pid).is_ok());
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state follows the program's name, which stands in parentheses and may hold anything.
    let zombie = status.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'));
    let threads = fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    exists && !(zombie && threads < 2)
}

fn known(pid: u32) -> Result<Pid> {
    let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
    raw.with_context(|| format!("expected a process id, found {pid}"))
}
