//! The extension for VS Code: its tools from npm, in the versions of its lock file, and its scripts.
//!
//! No package's own script runs while they are installed.

pub(crate) mod real;

use crate::cargo;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the extension is.
pub(crate) fn folder() -> PathBuf {
    cargo::root().join("extensions/vscode")
}

/// Installs what builds and checks it, unless that is there as the lock file says.
pub(crate) fn install() -> Result<()> {
    ensure(&folder())
}

/// Installs what the lock file of a folder names, unless it is there.
pub(crate) fn ensure(folder: &Path) -> Result<()> {
    let lock = folder.join("package-lock.json");
    let wanted = std::fs::read(&lock).with_context(|| format!("expected {}", lock.display()))?;
    let mark = folder.join("node_modules/.installed-lock.json");
    if std::fs::read(&mark).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    npm(folder, &["ci", "--ignore-scripts", "--no-audit", "--no-fund"])?;
    std::fs::write(&mark, wanted)?;
    Ok(())
}

/// Runs one of its scripts.
pub(crate) fn script(name: &str) -> Result<()> {
    npm(&folder(), &["run", "--silent", name])
}

/// Builds, lints and tests it.
pub(crate) fn check() -> Result<()> {
    install()?;
    script("test")
}

fn npm(folder: &Path, words: &[&str]) -> Result<()> {
    run(Command::new("npm").args(words).current_dir(folder))
}

/// Runs a command that must succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = cargo::run(command)?;
    if !status.success() {
        bail!("expected {} to succeed, found {status}", cargo::shown(command));
    }
    Ok(())
}
