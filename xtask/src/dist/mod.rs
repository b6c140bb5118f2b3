//! `cargo xtask dist`: what is given to people, in `target/dist`.

use crate::{cargo, setup, vscode};
use anyhow::{Context as _, Result};
use std::process::ExitCode;

/// Build what is given to people, in target/dist: the extension for VS Code (baton.vsix).
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args) -> Result<ExitCode> {
    setup::ensure(&[&setup::NODE])?;
    let folder = cargo::root().join("target/dist");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("could not make {}", folder.display()))?;
    vscode::install()?;
    vscode::script("package")?;
    let place = folder.join("baton.vsix");
    std::fs::copy(vscode::folder().join("dist/baton.vsix"), &place)
        .with_context(|| format!("could not write {}", place.display()))?;
    println!("{}", place.display());
    Ok(ExitCode::SUCCESS)
}
