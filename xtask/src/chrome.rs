//! The extension for Chrome: its tools from npm, in the versions of its lock file, and its own tests,
//! which start a real browser.
//!
//! Its measurements are a script of their own, which `cargo xtask bench` runs.

use crate::vscode::{ensure, run};
use crate::{cargo, setup};
use anyhow::{Context as _, Result};
use std::path::PathBuf;
use std::process::Command;

/// Where the extension is.
pub(crate) fn folder() -> PathBuf {
    cargo::root().join("extensions/chrome")
}

/// Builds it, into its folder `dist`.
pub(crate) fn build() -> Result<()> {
    ensure(&folder())?;
    run(Command::new("npm").args(["run", "--silent", "build"]).current_dir(folder()))
}

/// Checks its types, builds it and runs its tests.
pub(crate) fn check() -> Result<()> {
    script("test")
}

/// Measures what being looked at costs a page.
pub(crate) fn bench() -> Result<()> {
    script("bench")
}

fn script(name: &str) -> Result<()> {
    ensure(&folder())?;
    let chromium = setup::CHROMIUM.find().context("expected Chromium, found none")?;
    let mut npm = Command::new("npm");
    npm.args(["run", "--silent", name]).current_dir(folder()).env("CHROMIUM", chromium);
    run(&mut npm)
}
