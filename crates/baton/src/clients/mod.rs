//! The programs in which agents run, and their lists of MCP servers, of which Baton is to be one.
//!
//! Such a file belongs to its owner. Of its text one entry is changed and every other byte stays; what
//! would be written is read again first, and must say what was meant. Nothing here asks or prints.

mod edit;
mod file;
mod json;
mod toml;

pub(crate) use edit::{EditKind, Edited, differing, remove, set};
pub(crate) use file::{ClientFile, FileError};

use anyhow::Context as _;
use clap::ValueEnum;
use etcetera::BaseStrategy as _;
use serde::Serialize;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A program in which agents run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    Vscode,
    /// Gemini CLI.
    Gemini,
}

/// How a list of servers is written down.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// JSON with comments: an object of servers at `key`, each with its `type` if `typed`.
    Json {
        /// Where the servers stand.
        key: &'static str,
        /// Whether an entry says that it is a program.
        typed: bool,
    },
    /// TOML: a table for each server.
    Toml,
}

impl Client {
    /// All of them, as they are listed.
    pub(crate) const ALL: [Self; 5] =
        [Self::ClaudeCode, Self::Codex, Self::Cursor, Self::Vscode, Self::Gemini];

    /// What is typed for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Vscode => "vscode",
            Self::Gemini => "gemini",
        }
    }

    /// Whether it is used here.
    pub(crate) fn is_here(self, homes: &Homes) -> bool {
        self.places(homes).iter().any(|place| place.exists())
    }

    /// What is there once it has run.
    fn places(self, homes: &Homes) -> Vec<PathBuf> {
        match self {
            Self::ClaudeCode => vec![homes.claude(), self.user_file(homes)],
            Self::Codex => vec![homes.codex()],
            Self::Cursor => vec![homes.home.join(".cursor")],
            Self::Vscode => vec![homes.settings.join("Code/User")],
            Self::Gemini => vec![homes.home.join(".gemini")],
        }
    }

    /// The file with the servers of a user.
    pub(crate) fn user_file(self, homes: &Homes) -> PathBuf {
        match self {
            Self::ClaudeCode => homes.claude_file(),
            Self::Codex => homes.codex().join("config.toml"),
            Self::Cursor => homes.home.join(".cursor/mcp.json"),
            Self::Vscode => homes.settings.join("Code/User/mcp.json"),
            Self::Gemini => homes.home.join(".gemini/settings.json"),
        }
    }

    /// The file with the servers of a project.
    pub(crate) fn project_file(self, homes: &Homes) -> PathBuf {
        homes.project.join(match self {
            Self::ClaudeCode => ".mcp.json",
            Self::Codex => ".codex/config.toml",
            Self::Cursor => ".cursor/mcp.json",
            Self::Vscode => ".vscode/mcp.json",
            Self::Gemini => ".gemini/settings.json",
        })
    }

    /// How it writes its servers down.
    pub(crate) fn form(self) -> Form {
        match self {
            Self::ClaudeCode => Form::Json { key: "mcpServers", typed: true },
            Self::Vscode => Form::Json { key: "servers", typed: true },
            Self::Cursor | Self::Gemini => Form::Json { key: "mcpServers", typed: false },
            Self::Codex => Form::Toml,
        }
    }
}

/// The folders in which configuration is looked for.
#[derive(Debug, Clone)]
pub(crate) struct Homes {
    /// The user's home folder.
    pub(crate) home: PathBuf,
    /// Where programs with a window keep their settings.
    pub(crate) settings: PathBuf,
    /// The folder of Claude Code, if it was moved.
    pub(crate) claude: Option<PathBuf>,
    /// The folder of Codex, if it was moved.
    pub(crate) codex: Option<PathBuf>,
    /// The current folder.
    pub(crate) project: PathBuf,
}

impl Homes {
    /// Those of the user who runs this.
    pub(crate) fn of_this_user() -> anyhow::Result<Self> {
        let strategy = etcetera::base_strategy::choose_native_strategy()
            .context("expected a home folder, found none\nset HOME")?;
        let settings =
            if cfg!(target_os = "macos") { strategy.data_dir() } else { strategy.config_dir() };
        Ok(Self {
            home: strategy.home_dir().to_owned(),
            settings,
            claude: folder(std::env::var_os("CLAUDE_CONFIG_DIR")),
            codex: folder(std::env::var_os("CODEX_HOME")),
            project: std::env::current_dir().context("could not find the current folder")?,
        })
    }

    /// The folder of Claude Code.
    pub(crate) fn claude(&self) -> PathBuf {
        self.claude.clone().unwrap_or_else(|| self.home.join(".claude"))
    }

    /// The file of Claude Code: beside its folder, or in the folder when that was moved.
    fn claude_file(&self) -> PathBuf {
        self.claude.as_ref().unwrap_or(&self.home).join(".claude.json")
    }

    /// The folder of Codex.
    fn codex(&self) -> PathBuf {
        self.codex.clone().unwrap_or_else(|| self.home.join(".codex"))
    }
}

/// A variable that is set to nothing is not set.
fn folder(variable: Option<OsString>) -> Option<PathBuf> {
    let path = PathBuf::from(variable.filter(|text| !text.is_empty())?);
    std::path::absolute(path).ok()
}

/// How this program is found again, by its full path. `program` is the file that runs; a name on the
/// `path` that leads to it is preferred, for it still leads to Baton after an update.
pub(crate) fn lasting_name(program: &Path, path: &[PathBuf]) -> PathBuf {
    let same = |candidate: &PathBuf| {
        candidate.is_absolute()
            && runner(candidate).is_none()
            && candidate.canonicalize().is_ok_and(|found| found == program)
    };
    let name = program.file_name().unwrap_or_default();
    path.iter().map(|folder| folder.join(name)).find(same).unwrap_or_else(|| program.to_owned())
}

/// How a runner of packages starts the program again that lies in the runner's cache: what is there goes when the
/// cache is cleaned, or when there is a newer version. None for a program that was installed.
pub(crate) fn runner(program: &Path) -> Option<&'static [&'static str]> {
    let parts: Vec<&str> = program.iter().filter_map(|part| part.to_str()).collect();
    let has = |parts_of: &[&str]| parts.windows(parts_of.len()).any(|found| found == parts_of);
    // uv numbers the formats of what it keeps: archive-v0, environments-v2.
    let is_of_uv = |part: &&str| {
        let version = part
            .split_once("-v")
            .filter(|(kind, _)| ["archive", "builds", "environments"].contains(kind));
        version.is_some_and(|(_, number)| number.parse::<u32>().is_ok())
    };
    if has(&["_npx"]) {
        Some(&["npx", "-y", "baton-browser"])
    } else if parts.iter().any(is_of_uv) {
        Some(&["uvx", "baton-browser"])
    } else if has(&[".cache", "pipx"]) || has(&["pipx", ".cache"]) {
        Some(&["pipx", "run", "baton-browser"])
    } else {
        None
    }
}

/// What the entry is called.
const NAME: &str = "baton";

/// What a client starts.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ServerEntry {
    /// The full path of the program, or the name of the runner of packages that starts it.
    pub(crate) command: String,
    /// Its arguments.
    pub(crate) args: Vec<String>,
}

/// Keys and values of an entry, in their order.
pub(crate) type Fields = Vec<(String, Value)>;

/// The keys that Baton writes. Whatever else an entry says is its owner's.
const OURS: [&str; 3] = ["type", "command", "args"];

/// The keys of a server that is no program on this machine. They do not go together with ours.
const ELSEWHERE: [&str; 3] = ["url", "httpUrl", "serverUrl"];

impl ServerEntry {
    /// What is written of it.
    fn fields(&self, form: Form) -> Fields {
        let typed = matches!(form, Form::Json { typed: true, .. });
        let kind = typed.then(|| ("type".to_owned(), json!("stdio")));
        let ours =
            [("command".to_owned(), json!(self.command)), ("args".to_owned(), json!(self.args))];
        kind.into_iter().chain(ours).collect()
    }
}

/// Whether what Baton writes fits into an entry beside what is there.
fn can_keep(entry: &Value) -> bool {
    entry.is_object() && ELSEWHERE.iter().all(|key| entry.get(key).is_none())
}

/// What may be shown of an entry that is there: the values of our keys, and of an entry that is to go
/// as a whole the names of the others. Their values may be secrets.
fn shown(entry: &Value) -> Fields {
    let whole = !can_keep(entry);
    let Some(entry) = entry.as_object() else { return vec![("…".to_owned(), json!("…"))] };
    let ours = OURS.iter().filter_map(|key| Some(((*key).to_owned(), entry.get(*key)?.clone())));
    let others = entry.keys().filter(|key| whole && !OURS.contains(&key.as_str()));
    ours.chain(others.map(|key| (key.clone(), json!("…")))).collect()
}

/// Why a text is left alone.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Mistake {
    /// It cannot be read.
    #[error("in line {line}: {reason}")]
    Syntax {
        /// Counted from one.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// There is something else where the servers should stand.
    #[error("{0} is not a list of names and values")]
    Shape(&'static str),
    /// It is written in a way that cannot be changed safely.
    #[error("it is written in an unusual way")]
    Unusual,
}

/// The line that has the byte `at`, counted from one.
fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::{lasting_name, runner};
    use std::os::unix::fs::symlink;

    #[test]
    fn a_name_that_outlives_an_update_is_preferred() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let (old, bin) = (folder.join("baton-1.0"), folder.join("bin"));
        std::fs::create_dir(&old).unwrap();
        std::fs::create_dir(&bin).unwrap();
        let program = old.join("baton");
        std::fs::write(&program, "").unwrap();
        assert_eq!(lasting_name(&program, std::slice::from_ref(&bin)), program);
        symlink(&program, bin.join("baton")).unwrap();
        assert_eq!(lasting_name(&program, &["bin".into(), bin.clone()]), bin.join("baton"));
    }

    #[test]
    fn what_lies_in_the_cache_of_a_runner_is_started_by_that() {
        let of = |path: &str| runner(path.as_ref()).map(|words| words.join(" "));
        for (path, expected) in [
            (
                "/home/ada/.npm/_npx/0d1f/node_modules/baton-browser-linux-x64/bin/baton",
                Some("npx -y baton-browser"),
            ),
            ("/home/ada/.cache/uv/archive-v0/x1y2/bin/baton", Some("uvx baton-browser")),
            ("/data/cache-of-uv/environments-v2/x1y2/bin/baton", Some("uvx baton-browser")),
            ("/home/ada/.cache/pipx/4711/bin/baton", Some("pipx run baton-browser")),
            ("/home/ada/.local/pipx/.cache/4711/bin/baton", Some("pipx run baton-browser")),
            ("/home/ada/.local/share/uv/tools/baton-browser/bin/baton", None),
            ("/home/ada/.local/share/pipx/venvs/baton-browser/bin/baton", None),
            ("/usr/lib/node_modules/baton-browser-linux-x64/bin/baton", None),
            ("/home/ada/archive-vault/bin/baton", None),
            ("/usr/bin/baton", None),
        ] {
            assert_eq!(of(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn a_name_in_a_cache_outlives_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let (cache, bin) = (folder.join("_npx/1/bin"), folder.join("bin"));
        std::fs::create_dir_all(&cache).unwrap();
        std::fs::create_dir(&bin).unwrap();
        let program = bin.join("baton");
        std::fs::write(&program, "").unwrap();
        symlink(&program, cache.join("baton")).unwrap();
        assert_eq!(lasting_name(&program, &[cache]), program);
    }
}
