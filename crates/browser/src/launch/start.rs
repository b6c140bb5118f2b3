//! One launch: claim the profile, start the program, hold its pipe.
//!
//! Chromium reads its file descriptor 3 and writes its 4; both are one end of a socket pair here. The 5 it
//! only keeps open, and with it the claim on the profile. The browser ends when our end closes, so a keeper that is killed takes its browser with it.

use super::claim::Claim;
use super::confine::Confined;
use super::error::LaunchError;
use super::options::{ChromiumSandbox, LaunchOptions};
use super::{flags, lock, quiet};
use crate::cdp::Transport;
use baton_session::Confinement;
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
    /// By which rules the files of the machine are taken away from it.
    pub rules: Confinement,
}

/// Starts a browser. Needs a tokio runtime.
pub fn start(options: &LaunchOptions) -> Result<Launched, LaunchError> {
    let profile = &options.profile;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(profile)
        .map_err(LaunchError::file("create", profile))?;
    let claim = lock::claim(profile, options.break_foreign_lock)?;
    quiet::forget_open_tabs(profile)?;
    let as_root = rustix::process::geteuid().is_root();
    let sandboxed = !as_root && options.sandbox == ChromiumSandbox::Auto;
    if as_root {
        tracing::warn!("running as root: Chromium starts without its sandbox");
    } else if !sandboxed {
        tracing::warn!("browser.sandbox is off: Chromium starts without its sandbox");
    }
    let confined = Confined::prepare(options, as_root)?;
    let (ours, command) = prepare(options, &confined, &claim, sandboxed)
        .map_err(LaunchError::file("make a pipe for", &options.program))?;
    let mut child = confined.spawn(command, &options.program)?;
    let pid = child.id().unwrap_or_default();
    let stderr = child.stderr.take();
    let (reader, writer) = ours.into_split();
    Ok(Launched {
        child,
        pid,
        transport: Transport::nul(reader, writer),
        stderr,
        rules: confined.rules(),
    })
}

/// What is to be executed. It holds the browser's end of the pipe, which must not outlive the start:
/// kept, the pipe would never close.
fn prepare(
    options: &LaunchOptions,
    confined: &Confined,
    claim: &Claim,
    sandboxed: bool,
) -> io::Result<(UnixStream, Command)> {
    let (ours, theirs) = Pair::pair()?;
    ours.set_nonblocking(true)?;
    let ours = UnixStream::from_std(ours)?;
    let words =
        confined.words(&options.program, flags::arguments(options, sandboxed, confined.rules()));
    let mut command = Command::new(words.program);
    command
        .args(words.arguments)
        .env_clear()
        .envs(confined.variables(flags::variables(options)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    if let Some(folder) = confined.folder(options) {
        command.current_dir(folder);
    }
    let mappings = vec![
        FdMapping { parent_fd: theirs.try_clone()?.into(), child_fd: 3 },
        FdMapping { parent_fd: theirs.into(), child_fd: 4 },
        FdMapping { parent_fd: claim.share()?, child_fd: 5 },
    ];
    command.fd_mappings(mappings).map_err(io::Error::other)?;
    Ok((ours, command))
}
