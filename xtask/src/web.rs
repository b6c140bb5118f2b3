//! The page of a node: its tools from npm, in the versions of its lock file, and its scripts.
//!
//! What is built of it is kept in `crates/server`, for whoever builds Baton with Rust alone; its check builds it anew
//! and compares.

use crate::cargo;
use crate::vscode::{ensure, run};
use anyhow::Result;
use std::process::Command;

/// Checks its types and its style, compares what is kept with what is built of it, and runs its tests.
pub(crate) fn check() -> Result<()> {
    let folder = cargo::root().join("extensions/web");
    ensure(&folder)?;
    run(Command::new("npm").args(["run", "--silent", "test"]).current_dir(folder))
}
