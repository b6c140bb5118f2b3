//! What a browser is started with, what it says of itself, and why no browser was started.

use super::browser_version::{BrowserVersion, OLDEST};
use baton_session::{Confinement, Environment};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::str::FromStr;
use std::time::Duration;
use tokio::process::Command;

/// Everything that a launch needs; nothing else is read from anywhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LaunchOptions {
    /// The Chromium program, as [`find_browser`](super::find_browser) returns it.
    pub program: PathBuf,
    /// The user data dir; made when it is missing.
    pub profile: PathBuf,
    /// The session's own files: where its browser uploads from and downloads to; made when it is
    /// missing. Its `HOME` and `TMPDIR` are in there.
    pub files: PathBuf,
    /// Folders of people that the browser may see as well.
    #[serde(default)]
    pub folders: Vec<Folder>,
    /// How the files of the machine are taken away from the browser.
    #[serde(default)]
    pub confine: Confine,
    /// Whether Chromium keeps its pages in a sandbox of its own.
    #[serde(default)]
    pub sandbox: ChromiumSandbox,
    /// A folder that no browser may see a part of, whatever it is given: the node's data folder. The
    /// profile and the session's own files are in there, and are seen.
    #[serde(default)]
    pub hidden: Option<PathBuf>,
    /// Whether the browser shows windows.
    pub headed: bool,
    /// What pages see. Time zone, language, user agent and window size are given at launch;
    /// geolocation is the keeper's prelude.
    pub environment: Environment,
    /// At which port of this machine its only way out to the network listens; none when it goes there by
    /// itself.
    #[serde(default)]
    pub way_out: Option<u16>,
    /// Further command line switches, after ours.
    #[serde(default)]
    pub extra_args: Vec<String>,
    /// The caller's environment variables; only those that a browser needs are passed on.
    #[serde(default)]
    pub inherited: BTreeMap<String, String>,
    /// Whether a lock of Chromium that names another host may be removed, because the profile is ours and no
    /// other program can have it.
    #[serde(default)]
    pub break_foreign_lock: bool,
}

/// How the files of the machine are taken away from a browser.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confine {
    /// By Landlock; where the kernel has none, by bubblewrap; where that is missing too, not at all,
    /// which the log and the session say.
    #[default]
    Auto,
    /// By Landlock, or the browser does not start.
    Landlock,
    /// By bubblewrap, or the browser does not start.
    Bubblewrap,
    /// Not at all.
    Off,
}

/// A text that is none of the words for [`Confine`].
#[derive(Debug, thiserror::Error)]
#[error("expected auto, landlock, bubblewrap or off")]
pub struct NotConfine;

impl FromStr for Confine {
    type Err = NotConfine;

    fn from_str(text: &str) -> Result<Self, NotConfine> {
        match text {
            "auto" => Ok(Self::Auto),
            "landlock" => Ok(Self::Landlock),
            "bubblewrap" => Ok(Self::Bubblewrap),
            "off" => Ok(Self::Off),
            _ => Err(NotConfine),
        }
    }
}

/// Whether Chromium keeps its pages in a sandbox of its own, beside the rules that keep the whole browser
/// from the files of the machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChromiumSandbox {
    /// It does, but for root, whom it refuses.
    #[default]
    Auto,
    /// It does not: for a container that is the sandbox, and where the system lets it make none.
    Off,
}

/// A text that is none of the words for [`ChromiumSandbox`].
#[derive(Debug, thiserror::Error)]
#[error("expected auto or off")]
pub struct NotSandbox;

impl FromStr for ChromiumSandbox {
    type Err = NotSandbox;

    fn from_str(text: &str) -> Result<Self, NotSandbox> {
        match text {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            _ => Err(NotSandbox),
        }
    }
}

/// A folder that a browser may see beside its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    /// Where it is; absolute.
    pub path: PathBuf,
    /// Whether the browser may write there.
    #[serde(default)]
    pub writable: bool,
}

/// A text that names no folder.
#[derive(Debug, thiserror::Error)]
#[error("expected the whole path of a folder, with :rw after it if browsers may write there")]
pub struct NotFolder;

impl FromStr for Folder {
    type Err = NotFolder;

    /// `DIR`, which is read only, `DIR:ro` or `DIR:rw`.
    fn from_str(text: &str) -> Result<Self, NotFolder> {
        let (path, writable) = match text.rsplit_once(':') {
            Some((path, "rw")) => (path, true),
            Some((path, "ro")) => (path, false),
            _ => (text, false),
        };
        let path = PathBuf::from(path);
        if path.is_absolute() { Ok(Self { path, writable }) } else { Err(NotFolder) }
    }
}

impl LaunchOptions {
    /// A headless browser of `program` on `profile`, whose own files are beside the profile.
    pub fn new(program: PathBuf, profile: PathBuf) -> Self {
        Self {
            program,
            files: profile.with_extension("files"),
            profile,
            folders: Vec::new(),
            confine: Confine::default(),
            sandbox: ChromiumSandbox::default(),
            hidden: None,
            headed: false,
            environment: Environment::default(),
            way_out: None,
            extra_args: Vec::new(),
            inherited: BTreeMap::new(),
            break_foreign_lock: false,
        }
    }
}

/// How long the program may take to tell its version.
const VERSION_LIMIT: Duration = Duration::from_secs(10);

/// What the program says of itself, such as `Chromium 156.0.8078.79`.
pub async fn version(program: &Path) -> Result<String, LaunchError> {
    let not_runnable = |found: String| LaunchError::NotRunnable { path: program.to_owned(), found };
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(VERSION_LIMIT, command.output())
        .await
        .map_err(|_| not_runnable(format!("no version within {VERSION_LIMIT:?}")))?
        .map_err(|error| not_runnable(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.lines().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) if output.status.success() => Ok(line.chars().take(200).collect()),
        _ => Err(not_runnable(format!("no version ({})", output.status))),
    }
}

/// Why no browser was started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// No Chromium was found where one usually is.
    #[error(
        "expected {wanted}, found none of {tried}\n\
         install one with `baton browser install` or `apt-get install chromium`, or name a Chrome or Chromium \
         program in browser.program"
    )]
    NotFound {
        /// What was wanted: `Chromium`, or the name that the settings have for a kind.
        wanted: &'static str,
        /// The names and paths that were tried, with commas.
        tried: String,
    },
    /// The browser is older than those that Baton works with.
    #[error(
        "expected Chromium {OLDEST} or newer at {}, found {version}\n\
         update it, or install a newer one with `baton browser install` and set browser.program = \
         \"chrome-for-testing\"",
        program.display()
    )]
    TooOld {
        /// The program.
        program: PathBuf,
        /// What it is.
        version: BrowserVersion,
    },
    /// The program that was named cannot be run.
    #[error("expected a Chromium program at {}, found {found}", path.display())]
    NotRunnable {
        /// The path that was named.
        path: PathBuf,
        /// What was there instead.
        found: String,
    },
    /// A living browser uses the profile.
    #[error(
        "expected a free profile at {}, found it in use by process {pid}\n\
         close that browser first",
        profile.display()
    )]
    InUse {
        /// The profile.
        profile: PathBuf,
        /// The process that uses it.
        pid: u32,
    },
    /// The profile was last used on another machine, and no person said that it is dead.
    #[error(
        "expected a free profile at {}, found it locked by process {pid} on host {host:?}",
        profile.display()
    )]
    OtherHost {
        /// The profile.
        profile: PathBuf,
        /// The host named in the lock.
        host: String,
        /// The process named in the lock.
        pid: u32,
    },
    /// A browser that Baton started has the profile, where its processes are not seen from here.
    #[error(
        "expected a free profile at {}, found a browser on it that another container or machine runs\n\
         end that one first",
        profile.display()
    )]
    Claimed {
        /// The profile.
        profile: PathBuf,
    },
    /// The files of the machine cannot be taken away from the browser as the settings want it.
    #[error(
        "expected a browser confined by {wanted}, found {found}\n\
         browser.confinement = \"auto\" takes what there is"
    )]
    NotConfined {
        /// What the settings want.
        wanted: Confinement,
        /// What is there instead.
        found: &'static str,
    },
    /// The kernel did not take the rules that take the files of the machine away.
    #[error("could not confine the browser by {rules}: {source}")]
    Rules {
        /// The rules.
        rules: Confinement,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the profile or of the log could not be read or written.
    #[error("could not {what} {}: {source}", path.display())]
    File {
        /// What was tried, such as `create`.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl LaunchError {
    /// A closure for `map_err` that names the file.
    pub(super) fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }
}
