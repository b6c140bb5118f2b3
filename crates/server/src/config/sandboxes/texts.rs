//! `[sandboxes]` as it is typed.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// `[sandboxes]`
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a table")]
pub struct SandboxTexts {
    /// How many there are at once at most.
    pub most: Option<i64>,
    /// Seconds after which one ends by itself, unless its maker says otherwise.
    pub ttl: Option<i64>,
    /// The most seconds that its maker may say.
    pub longest_ttl: Option<i64>,
    /// What they may reach: `none`, `public` or `listed`.
    pub network: Option<String>,
    /// Addresses that they may reach besides; `host:PORT` is a port of this machine's loopback.
    pub allow: Option<Vec<String>>,
    /// The most memory of all processes and files of one, in bytes.
    pub memory: Option<i64>,
    /// The most processes and threads of one.
    pub processes: Option<i64>,
    /// The most processors of one.
    pub processors: Option<f64>,
    /// The most bytes of files in one.
    pub disk: Option<i64>,
    /// Whether there may be sandboxes that isolate nothing, where bubblewrap is missing.
    pub allow_unsandboxed: Option<bool>,
    /// When what goes into one is prepared: `never`, `used` or `always`.
    pub prepare: Option<String>,
    /// `[[sandboxes.flavors]]`
    pub flavors: Option<Vec<FlavorTexts>>,
    /// `[[sandboxes.session_services]]`
    pub session_services: Option<Vec<SessionServiceTexts>>,
}

/// `[[sandboxes.session_services]]`: who else is asked for a session.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct SessionServiceTexts {
    /// Where it answers.
    pub url: String,
    /// The file with the key with which it is asked.
    pub key_file: PathBuf,
    /// For whom it is asked; left out, for who runs the node.
    pub owner: Option<String>,
}

/// `[[sandboxes.flavors]]`: what is in a sandbox.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub struct FlavorTexts {
    /// What requests call it.
    pub name: String,
    /// What of this machine it sees besides programs and libraries, read-only: `SOURCE:TARGET`.
    #[serde(default)]
    pub mounts: Vec<String>,
    /// Folders in it in which its programs are looked for first.
    #[serde(default)]
    pub path: Vec<String>,
    /// Variables of every command in it.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}
