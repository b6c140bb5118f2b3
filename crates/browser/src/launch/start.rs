//! One launch: claim the profile, start the program, hold its pipe.
//!
//! Chromium reads its file descriptor 3 and writes its 4; both are one end of a socket pair here.
//! The browser ends when our end closes, so a keeper that is killed takes its browser with it.

use super::{LaunchError, LaunchOptions, flags, lock};
use crate::cdp::Transport;
use command_fds::{CommandFdExt, FdMapping};
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream as Pair;
use std::process::Stdio;
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, Command};

/// A browser that has been started; whether it speaks, its transport will show.
pub struct Launched {
    /// The process, in a process group of its own; killed when dropped.
    pub child: Child,
    /// Its process id.
    pub pid: u32,
    /// Its pipe.
    pub transport: Transport,
    /// What it logs; must be read, or the browser stalls.
    pub stderr: Option<ChildStderr>,
}

/// Starts a browser. Needs a tokio runtime.
pub fn start(options: &LaunchOptions) -> Result<Launched, LaunchError> {
    let profile = &options.profile;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(profile)
        .map_err(LaunchError::file("create", profile))?;
    lock::claim(profile, options.break_foreign_lock)?;
    let as_root = rustix::process::geteuid().is_root();
    if as_root {
        tracing::warn!("running as root: Chromium starts without its sandbox");
    }
    let (ours, command) = prepare(options, as_root).map_err(|source| LaunchError::File {
        what: "make a pipe for",
        path: options.program.clone(),
        source,
    })?;
    let mut child = spawn(command).map_err(|error| LaunchError::NotRunnable {
        path: options.program.clone(),
        found: error.to_string(),
    })?;
    let pid = child.id().unwrap_or_default();
    let stderr = child.stderr.take();
    let (reader, writer) = ours.into_split();
    Ok(Launched { child, pid, transport: Transport::nul(reader, writer), stderr })
}

fn prepare(options: &LaunchOptions, as_root: bool) -> io::Result<(UnixStream, Command)> {
    let (ours, theirs) = Pair::pair()?;
    ours.set_nonblocking(true)?;
    let ours = UnixStream::from_std(ours)?;
    let mut command = Command::new(&options.program);
    command
        .args(flags::arguments(options, as_root))
        .env_clear()
        .envs(flags::variables(options))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let mappings = vec![
        FdMapping { parent_fd: theirs.try_clone()?.into(), child_fd: 3 },
        FdMapping { parent_fd: theirs.into(), child_fd: 4 },
    ];
    command.fd_mappings(mappings).map_err(io::Error::other)?;
    Ok((ours, command))
}

/// Takes the command, because it holds the browser's end of the pipe: kept, it would never close.
fn spawn(mut command: Command) -> io::Result<Child> {
    command.spawn()
}
