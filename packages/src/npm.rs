//! The npm packages: one that starts the program, and one for each platform that has the program in it.
//!
//! npm installs of the optional ones only what fits the machine, so no script runs when they are installed.

use crate::VERSION;
use crate::contents::Contents;
use crate::program::Program;
use crate::registry;
use anyhow::{Context as _, Result, ensure};
use serde_json::{Map, Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What people install.
const NAME: &str = "baton-browser";
/// What starts the program.
const LAUNCHER: &str = include_str!("../npm/baton.cjs");
/// Its place in the package.
const LAUNCHER_PLACE: &str = "bin/baton.cjs";

/// Packs one package a program that npm has a name for, and the one that starts them.
pub(crate) fn packages(
    programs: &[Program],
    contents: &Contents,
    to: &Path,
) -> Result<Vec<PathBuf>> {
    let mut packed = Vec::new();
    let mut optional = Map::new();
    for program in programs {
        let Some(processor) = program.target.npm else { continue };
        let name = format!("@{NAME}/linux-{processor}");
        let own = json!({
            "description": format!("Baton's program for Linux, {processor}"),
            "os": ["linux"],
            "cpu": [processor],
            "libc": ["glibc"],
        });
        let files = [("bin/baton", program.bytes.as_slice())];
        packed.push(pack(&name, own, &files, contents, to)?);
        optional.insert(name, VERSION.into());
    }
    if optional.is_empty() {
        return Ok(packed);
    }
    let own = json!({
        "description": "Keeps a browser session alive across crashes, machines and agents",
        "keywords": ["browser", "session", "agent", "mcp", "login"],
        "mcpName": registry::NAME,
        "bin": {"baton": LAUNCHER_PLACE, NAME: LAUNCHER_PLACE},
        "engines": {"node": ">=18"},
        "optionalDependencies": optional,
    });
    let files = [(LAUNCHER_PLACE, LAUNCHER.as_bytes())];
    packed.push(pack(NAME, own, &files, contents, to)?);
    Ok(packed)
}

/// Packs one package; all its files are run, but for the licences.
fn pack(
    name: &str,
    own: Value,
    files: &[(&str, &[u8])],
    contents: &Contents,
    to: &Path,
) -> Result<PathBuf> {
    let folder = tempfile::tempdir()?;
    let manifest = manifest(name, own);
    fs::write(folder.path().join("package.json"), serde_json::to_vec_pretty(&manifest)?)?;
    for (file, text) in contents.texts() {
        fs::write(folder.path().join(file), text)?;
    }
    for (file, bytes) in files {
        let place = folder.path().join(file);
        fs::create_dir_all(place.parent().context("expected a folder")?)?;
        fs::write(&place, bytes)?;
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755))?;
    }
    let done = Command::new("npm")
        .args(["pack", "--silent", "--ignore-scripts", "--pack-destination"])
        .arg(fs::canonicalize(to)?)
        .current_dir(folder.path())
        .output()
        .context("could not start npm")?;
    let errors = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "expected npm to pack {name}:\n{errors}");
    Ok(to.join(String::from_utf8(done.stdout)?.trim()))
}

fn manifest(name: &str, own: Value) -> Value {
    let repository = env!("CARGO_PKG_REPOSITORY");
    let mut manifest = json!({
        "name": name,
        "version": VERSION,
        "license": env!("CARGO_PKG_LICENSE"),
        "homepage": repository,
        "repository": {"type": "git", "url": format!("git+{repository}.git")},
        // What belongs to a scope is private unless it says so.
        "publishConfig": {"access": "public"},
        "files": ["bin", "LICENSE*"],
    });
    if let (Some(manifest), Value::Object(own)) = (manifest.as_object_mut(), own) {
        manifest.extend(own);
    }
    manifest
}
