//! Tools from PyPI, in a virtual environment of their own.

use super::install::Shelf;
use super::room::Room;
use anyhow::{Context as _, Result};
use std::path::PathBuf;
use std::time::Duration;
use tokio::process::Command;

/// browser-use, the SDK of the Model Context Protocol, and OpenAI's.
const TOOLS: Shelf = Shelf {
    name: "python",
    files: &[("requirements.txt", include_str!("../../tools/python/requirements.txt"))],
};

/// How long Python may take to tell its version.
const VERSION_LIMIT: Duration = Duration::from_secs(20);

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
            .run(python, VERSION_LIMIT)
            .await
            .context("expected python3 on the PATH (`cargo xtask setup` installs it)")?;
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv", "venv"]);
        let mut pip = Command::new("venv/bin/python");
        pip.args(["-m", "pip", "--disable-pip-version-check", "--quiet", "install"]);
        pip.args(["--no-deps", "--no-compile", "--only-binary", ":all:"]);
        pip.args(["--requirement", "requirements.txt"]);
        Ok(Self { folder: TOOLS.fill(&version, vec![venv, pip]).await? })
    }

    /// The version of a package that is installed.
    pub fn version(&self, package: &str) -> Result<String> {
        let lines = TOOLS.files[0].1.lines();
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
