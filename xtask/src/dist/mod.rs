//! `cargo xtask dist`: what is given to people, in `target/dist`.
//!
//! The program is built once a target, by cargo-zigbuild, which links it against an old glibc; everything that
//! carries it is made of that one file (`packages`).

mod asked;
mod bare;
mod containers;
mod given;
mod image;
pub(crate) mod real;
mod start_up;
mod targets;

use crate::{cargo, chrome, setup, vscode};
use anyhow::{Context as _, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use targets::{TARGETS, Target};

/// Build what is given to people, in target/dist: archives of the program, packages for Debian, npm and PyPI,
/// the extensions for VS Code and Chrome, a bill of materials, and the sums of all.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only for this target, such as x86_64-unknown-linux-gnu [default: all whose Rust library is installed]
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
}

/// Where what is given to people goes.
pub(crate) fn folder() -> PathBuf {
    cargo::root().join("target/dist")
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    setup::ensure(&setup::DIST)?;
    let (chosen, left): (Vec<_>, Vec<_>) = TARGETS.iter().partition(|target| match &args.target {
        Some(only) => only.as_str() == target.triple,
        None => target.is_installed(),
    });
    let known = TARGETS.each_ref().map(|target| target.triple).join(", ");
    ensure!(!chosen.is_empty(), "expected a target of {known}, found none of them");
    if let Some(missing) = chosen.iter().find(|target| !target.is_installed()) {
        bail!("expected Rust's library, found none\nrustup target add {}", missing.triple);
    }
    // What an earlier run made of another version would be summed up, and given out.
    let folder = folder();
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
    for target in &chosen {
        build(target)?;
    }
    extensions(&folder)?;
    packages(&chosen, &folder)?;
    for target in left {
        let why = if target.is_installed() {
            "another target was asked for".to_owned()
        } else {
            format!("Rust's library for it is not installed: rustup target add {}", target.triple)
        };
        println!("left out {}: {why}", target.triple);
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds the program for a target.
fn build(target: &Target) -> Result<()> {
    let zig = setup::ZIG.find().context("expected cargo-zigbuild, found none")?;
    let python = zig.with_file_name("python");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = zig.parent().map(Path::to_owned);
    let path = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&path)))?;
    let linked = target.linked_as();
    let words = ["zigbuild", "--locked", "--profile", "dist", "--package", "baton", "--target"];
    let mut build = cargo::cargo(&[&words[..], &[&linked]].concat());
    build.env("PATH", path).env("CARGO_ZIGBUILD_PYTHON_PATH", python);
    vscode::run(&mut build)
}

/// Builds the extensions; the one for VS Code is packed by its own tool.
fn extensions(folder: &Path) -> Result<()> {
    vscode::install()?;
    vscode::script("package")?;
    let place = folder.join("baton.vsix");
    fs::copy(vscode::folder().join("dist/baton.vsix"), &place)
        .with_context(|| format!("could not write {}", place.display()))?;
    chrome::build()
}

fn packages(targets: &[&Target], folder: &Path) -> Result<()> {
    let mut packages =
        cargo::cargo(&["run", "--quiet", "--locked", "--package", "baton-packages", "--"]);
    for target in targets {
        packages.arg("--program").arg(format!("{}={}", target.triple, target.program().display()));
    }
    packages.arg("--chrome").arg(chrome::folder().join("dist"));
    packages.arg("--time").arg(commit_time()?).arg("--to").arg(folder);
    vscode::run(&mut packages)
}

/// When the commit was made, in seconds since 1970.
fn commit_time() -> Result<String> {
    let mut git = Command::new("git");
    git.args(["log", "-1", "--format=%ct"]).current_dir(cargo::root());
    let output = git.output().context("could not start git")?;
    ensure!(
        output.status.success(),
        "expected a commit: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// A command with nothing of this machine but its programs.
fn command(program: &Path, room: &Path) -> Command {
    let mut command = Command::new(program);
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("HOME", room).env("PATH", path).env("LANG", "C.UTF-8");
    command.stdin(Stdio::null());
    command
}
