//! Starting Chromium on a session's own profile.
//!
//! The one idea: the browser speaks through a pipe, never a debugging port, so that no other local user, page
//! or sandbox can reach it, and it dies with the holder of the pipe. What the caller read from the
//! environment is an argument here: this crate reads none.
//!
//! A launch claims the profile, rids it of links, forgets its open tabs, starts the program and holds its pipe.
//!
//! Chromium reads its file descriptor 3 and writes its 4; both are one end of a socket pair here. The 5
//! it only keeps open, and with it the claim on the profile. The browser ends when our end closes, so a
//! keeper that is killed takes its browser with it.
//!
//! A browser opens nothing by itself when it starts. The tabs of a session have one restorer, which is
//! ours. Chromium has another one, which brings back what its own files name ("continue where you left
//! off") as soon as there is a window, beside the tabs that are there by then. So its files are gone
//! before it starts. What a person chose for the start stays as it is: with nothing to bring back it
//! opens nothing.

mod agent;
mod browser_version;
mod confine;
mod finder;
mod flags;
mod leftover;
pub mod lock;
mod options;
mod own_pages;
mod settings;
mod way_out;

pub use agent::{NotThisBrowser, expect_itself, made_whole, name_of};
pub use browser_version::{BrowserVersion, NEWEST_TRIED, NotVersion, OLDEST};
pub use confine::{Access, View, VisiblePath, available};
pub use finder::{
    BrowserChoice, BrowserKind, BrowserPlaces, FoundBrowser, all_browsers, find_browser,
};
pub(crate) use finder::{expect_supported, is_program};
pub use flags::{NotSwitch, Switch, passes, switches};
pub(crate) use leftover::is_of_browser;
pub use leftover::{kill_leftover, wait_until_free};
pub use lock::{LockState, wait_until_unclaimed};
pub use options::{ChromiumSandbox, Confine, Folder, LaunchError, LaunchOptions, version};

use crate::cdp::Transport;
use crate::plain;
use baton_session::Confinement;
use command_fds::{CommandFdExt, FdMapping};
use confine::Confined;
use lock::Claim;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream as Pair;
use std::path::Path;
use std::process::Stdio;
use std::{fs, io};
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
    plain::remove_links(profile).map_err(LaunchError::file("look through", profile))?;
    forget_open_tabs(profile)?;
    if options.way_out.is_some() {
        way_out::raise_connections(profile)?;
    }
    let as_root = rustix::process::geteuid().is_root();
    let sandboxed = !as_root && options.sandbox == ChromiumSandbox::Auto;
    if as_root {
        tracing::warn!("running as root: Chromium starts without its sandbox");
    } else if !sandboxed {
        tracing::warn!("browser.sandbox is off: Chromium starts without its sandbox");
    }
    let confined = Confined::prepare(options, as_root)?;
    own_pages::refuse(profile, !options.headed && confined.rules().holds())?;
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

/// Where Chromium notes its windows, in the folder of a profile: twice, in the clear and encrypted
/// (`kSessionsDirectory` and `kEncryptedSessionsDirectory` in `components/sessions/core`).
const FOLDERS: [&str; 2] = ["Sessions", "Sessions_Encrypted"];

/// How the files are called that name what was open, windows of web apps too. Others in the folder name what
/// was closed, which is not brought back unasked.
const OPEN: [&str; 2] = ["Session_", "Apps_"];

/// Takes away what Chromium would bring back by itself. No browser runs on the profile. What a browser may
/// have put there to lead elsewhere is not followed.
fn forget_open_tabs(profile: &Path) -> Result<(), LaunchError> {
    let default = profile.join("Default");
    if !is_folder(&default)? {
        return Ok(());
    }
    FOLDERS.iter().try_for_each(|name| empty(&default.join(name)))
}

fn empty(folder: &Path) -> Result<(), LaunchError> {
    if !is_folder(folder)? {
        return Ok(());
    }
    for entry in fs::read_dir(folder).map_err(LaunchError::file("read", folder))? {
        let entry = entry.map_err(LaunchError::file("read", folder))?;
        let name = entry.file_name();
        let is_open =
            OPEN.iter().any(|begin| name.as_encoded_bytes().starts_with(begin.as_bytes()));
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_open && !is_folder {
            let path = entry.path();
            fs::remove_file(&path).map_err(LaunchError::file("remove", path))?;
        }
    }
    Ok(())
}

/// Whether there is a folder, and no link to one.
fn is_folder(path: &Path) -> Result<bool, LaunchError> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(found.is_dir()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(LaunchError::file("look at", path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_leads_elsewhere_and_what_was_closed_stays() {
        let (folder, person) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let default = folder.path().join("Default");
        forget_open_tabs(folder.path()).unwrap();
        fs::create_dir_all(default.join("Sessions/Session_9")).unwrap();
        for name in ["Session_1", "Apps_2", "Tabs_3"] {
            fs::write(default.join("Sessions").join(name), "").unwrap();
        }
        fs::write(person.path().join("Session_1"), "").unwrap();
        symlink(person.path(), default.join("Sessions_Encrypted")).unwrap();
        forget_open_tabs(folder.path()).unwrap();
        let left = fs::read_dir(default.join("Sessions")).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["Session_9", "Tabs_3"]);
        assert!(person.path().join("Session_1").exists());
    }
}
