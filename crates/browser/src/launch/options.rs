//! What a browser is started with.

use baton_session::Environment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;

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
    /// Further command line switches, after ours.
    #[serde(default)]
    pub extra_args: Vec<String>,
    /// The caller's environment variables; only those that a browser needs are passed on.
    #[serde(default)]
    pub inherited: BTreeMap<String, String>,
    /// Whether a lock of Chromium that names another host may be removed, because the profile is ours and
    /// nobody else can have it.
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
            extra_args: Vec::new(),
            inherited: BTreeMap::new(),
            break_foreign_lock: false,
        }
    }
}
