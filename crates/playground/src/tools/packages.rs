//! Tools from npm, with a Node that is new enough to run them, and tools from PyPI, in a virtual environment of
//! their own.

use super::room::{Room, Shelf};
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::process::Command;

/// Playwright, its MCP server, agent-browser, and the MCP server of Chrome's developers.
const TOOLS: Shelf = Shelf {
    name: "npm",
    files: &[
        ("package.json", include_str!("../../tools/npm/package.json")),
        ("package-lock.json", include_str!("../../tools/npm/package-lock.json")),
        (".npmrc", include_str!("../../tools/npm/.npmrc")),
    ],
};

/// The MCP Inspector, apart from the others: it wants a newer Node, and brings much with it.
const INSPECTOR: Shelf = Shelf {
    name: "inspector",
    files: &[
        ("package.json", include_str!("../../tools/inspector/package.json")),
        ("package-lock.json", include_str!("../../tools/inspector/package-lock.json")),
        (".npmrc", include_str!("../../tools/inspector/.npmrc")),
    ],
};

/// Vite and React: the development server of a framework.
const VITE: Shelf = Shelf {
    name: "vite",
    files: &[
        ("package.json", include_str!("../../tools/vite/package.json")),
        ("package-lock.json", include_str!("../../tools/vite/package-lock.json")),
        (".npmrc", include_str!("../../tools/vite/.npmrc")),
    ],
};

/// Node, as a package of its own.
const NODE: Shelf = Shelf {
    name: "node",
    files: &[
        ("package.json", include_str!("../../tools/node/package.json")),
        ("package-lock.json", include_str!("../../tools/node/package-lock.json")),
        (".npmrc", include_str!("../../tools/node/.npmrc")),
    ],
};

/// The oldest Node that the tools accept: major and minor version.
const OLDEST_NODE: (u32, u32) = (20, 19);
/// The oldest Node that the Inspector accepts.
const OLDEST_FOR_INSPECTOR: (u32, u32) = (22, 19);
/// How long Node may take to tell its version.
const VERSION_LIMIT: Duration = Duration::from_secs(20);

/// The tools from npm, installed.
pub struct Npm {
    folder: PathBuf,
    /// Where the newer Node is, if the machine's own is too old.
    node: Option<PathBuf>,
}

impl Npm {
    /// Installs the tools; quick when they are there.
    pub async fn install() -> Result<Self> {
        let tools = Self::of(&TOOLS, OLDEST_NODE).await?;
        make_executable(&tools.agent_browser())?;
        Ok(tools)
    }

    /// Installs the MCP Inspector; quick when it is there.
    pub async fn install_inspector() -> Result<Self> {
        Self::of(&INSPECTOR, OLDEST_FOR_INSPECTOR).await
    }

    /// Installs Vite and React; quick when they are there.
    pub async fn install_vite() -> Result<Self> {
        Self::of(&VITE, OLDEST_NODE).await
    }

    /// Installs what builds and tests something of ours.
    pub(super) async fn of_this_node(shelf: &Shelf) -> Result<Self> {
        Self::of(shelf, OLDEST_NODE).await
    }

    async fn of(shelf: &Shelf, oldest: (u32, u32)) -> Result<Self> {
        let version = node_version()
            .await
            .context("expected Node and npm on the PATH (`cargo xtask setup` installs them)")?;
        let node = if version < oldest {
            let folder = NODE.fill("", vec![npm_ci()]).await?;
            let package = format!("node_modules/node-linux-{}/bin", architecture());
            Some(folder.join(package))
        } else {
            None
        };
        Ok(Self { folder: shelf.fill("", vec![npm_ci()]).await?, node })
    }

    /// A room in which the tools are at hand, as commands and as modules.
    pub fn room(&self) -> Result<Room> {
        let modules = self.folder.join("node_modules");
        let room = Room::build()?.with_programs(&modules.join(".bin"));
        std::os::unix::fs::symlink(modules, room.path().join("node_modules"))?;
        Ok(match &self.node {
            Some(folder) => room.with_programs(folder),
            None => room,
        })
    }

    /// The folder that holds `node_modules`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The version of a package that is installed.
    pub fn version(&self, package: &str) -> Result<String> {
        let manifest = self.folder.join("node_modules").join(package).join("package.json");
        let manifest: Value = serde_json::from_str(&fs::read_to_string(manifest)?)?;
        let version = manifest["version"].as_str();
        Ok(version.with_context(|| format!("expected a version of {package}"))?.to_owned())
    }

    /// agent-browser's program, which needs no Node.
    pub fn agent_browser(&self) -> PathBuf {
        let program = format!("agent-browser/bin/agent-browser-linux-{}", architecture());
        self.folder.join("node_modules").join(program)
    }
}

/// Installs what the lock file says, and nothing else.
fn npm_ci() -> Command {
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    npm
}

/// Major and minor version of the machine's Node.
async fn node_version() -> Result<(u32, u32)> {
    let room = Room::build()?;
    let mut node = Command::new("node");
    node.arg("--version");
    let said = room.run(node, VERSION_LIMIT).await?;
    let numbers: Vec<u32> = said
        .trim()
        .trim_start_matches('v')
        .split('.')
        .map_while(|part| part.parse().ok())
        .collect();
    ensure!(numbers.len() >= 2, "expected a version from node, found {said}");
    Ok((numbers[0], numbers[1]))
}

/// What npm's packages call this kind of machine.
fn architecture() -> &'static str {
    if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" }
}

/// The script that would do so at the installation did not run.
fn make_executable(path: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let made = fs::set_permissions(path, fs::Permissions::from_mode(0o755));
    made.with_context(|| format!("expected agent-browser at {}", path.display()))
}

/// browser-use, the SDK of the Model Context Protocol, and OpenAI's.
const PACKAGES: Shelf = Shelf {
    name: "python",
    files: &[("requirements.txt", include_str!("../../tools/python/requirements.txt"))],
};

/// How long Python may take to tell its version.
const PYTHON_LIMIT: Duration = Duration::from_secs(20);

/// The tools from PyPI, installed.
pub struct Python {
    folder: PathBuf,
}

impl Python {
    /// Installs the tools; quick when they are there.
    pub async fn install() -> Result<Self> {
        let mut python = Command::new("python3");
        python.arg("--version");
        let version = Room::build()?
            .run(python, PYTHON_LIMIT)
            .await
            .context("expected python3 on the PATH (`cargo xtask setup` installs it)")?;
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv", "venv"]);
        let mut pip = Command::new("venv/bin/python");
        pip.args(["-m", "pip", "--disable-pip-version-check", "--quiet", "install"]);
        pip.args(["--no-deps", "--no-compile", "--only-binary", ":all:"]);
        pip.args(["--requirement", "requirements.txt"]);
        Ok(Self { folder: PACKAGES.fill(&version, vec![venv, pip]).await? })
    }

    /// The version of a package that is installed.
    pub fn version(&self, package: &str) -> Result<String> {
        let lines = PACKAGES.files[0].1.lines();
        let version =
            lines.filter_map(|line| line.split_once("==")).find(|(name, _)| *name == package);
        Ok(version.with_context(|| format!("expected a version of {package}"))?.1.to_owned())
    }

    /// The same room, in which `python` has the tools beside what is there.
    #[must_use]
    pub fn beside(&self, room: Room) -> Room {
        room.with_programs(&self.folder.join("venv/bin"))
    }

    /// A room in which `python` has the tools.
    pub fn room(&self) -> Result<Room> {
        Ok(self.beside(Room::build()?))
    }
}
