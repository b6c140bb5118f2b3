//! `cargo xtask redactor`: the redactor of the extension for Chrome, as WebAssembly, kept beside its crate.
//!
//! Whoever builds the extension needs no Rust for it; a test holds what is kept to its sources by their hash.

pub(crate) mod sources;

use crate::cargo;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What the crate is compiled for.
const TARGET: &str = "wasm32-unknown-unknown";
/// The package of npm whose `wasm-opt` makes smaller what the compiler wrote: by a twentieth, and as fast.
const OPTIMIZER: &str = "binaryen@132.0.0";
/// How: until nothing gets smaller any more, and numbers that come often are written once.
const HOW: [&str; 3] = ["-Oz", "--converge", "--const-hoisting"];

/// What the compiler uses of WebAssembly for this target, which its file does not say.
const FEATURES: [&str; 4] = [
    "--enable-bulk-memory",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-sign-ext",
];

/// Build the redactor of the extension for Chrome anew, after a change of crates/redaction.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args) -> Result<ExitCode> {
    // Adding what is there costs nothing.
    let mut add = Command::new("rustup");
    add.args(["target", "add", TARGET]);
    if !cargo::run(&mut add)?.success() {
        bail!("expected rustup to add the target {TARGET}, and it could not");
    }
    let mut build = cargo::cargo(&[
        "build",
        "--locked",
        "--package",
        "baton-redactor-wasm",
        "--profile",
        "wasm",
    ]);
    build.args(["--target", TARGET, "--config", &flags()?]);
    if !cargo::run(&mut build)?.success() {
        bail!("cargo could not build the redactor");
    }
    let root = cargo::root();
    let folder =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let wasm = folder.join(TARGET).join("wasm/baton_redactor_wasm.wasm");
    let small = optimize(&wasm, &folder)?;
    let bytes = fs::read(&small).with_context(|| format!("could not read {}", small.display()))?;
    fs::write(root.join(sources::KEPT), &bytes)?;
    fs::write(root.join(sources::KEPT_HASH), sources::hash(root)? + "\n")?;
    println!("{}: {} bytes", sources::KEPT, bytes.len());
    Ok(ExitCode::SUCCESS)
}

/// Makes a smaller one of it, beside it, with a tool that comes into `target/tools`.
fn optimize(wasm: &Path, target: &Path) -> Result<PathBuf> {
    let tools = target.join("tools/binaryen");
    fs::create_dir_all(&tools)?;
    let mut install = Command::new("npm");
    install.args(["install", "--silent", "--no-save", "--ignore-scripts", "--prefix"]);
    if !cargo::run(install.arg(&tools).arg(OPTIMIZER))?.success() {
        bail!("expected npm to install {OPTIMIZER}, and it could not");
    }
    let small = wasm.with_extension("small.wasm");
    let mut optimize = Command::new(tools.join("node_modules/.bin/wasm-opt"));
    optimize.args(HOW).args(FEATURES).arg(wasm).arg("-o").arg(&small);
    if !cargo::run(&mut optimize)?.success() {
        bail!("wasm-opt could not read {}", wasm.display());
    }
    Ok(small)
}

/// Flags with which what is built names no place of the machine that built it.
fn flags() -> Result<String> {
    let printed = Command::new("rustc").args(["--print", "sysroot"]).output()?.stdout;
    let sysroot = String::from_utf8(printed)?;
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let cargo_home =
        std::env::var_os("CARGO_HOME").map_or_else(|| home.join(".cargo"), PathBuf::from);
    let mut places = vec![(PathBuf::from(sysroot.trim()), "rust")];
    places.extend(
        fs::read_dir(cargo_home.join("registry/src"))?.flatten().map(|one| (one.path(), "crates")),
    );
    places.push((cargo::root().to_owned(), "baton"));
    let flag =
        |(from, to): &(PathBuf, &str)| format!("'--remap-path-prefix={}={to}'", from.display());
    let flags: Vec<String> = places.iter().map(flag).collect();
    Ok(format!("target.{TARGET}.rustflags=[{}]", flags.join(", ")))
}
