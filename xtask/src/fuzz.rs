//! The fuzz targets (`fuzz/`): whatever bytes come, each is read or refused, and what is read holds.
//!
//! cargo-fuzz comes into `target/tools`, in the version that is named here. The targets are built by the
//! stable compiler, without sanitizers: none of the code in question is unsafe, so that a wrong step is
//! a panic. What a run finds out stays in `target/fuzz`; what is worth keeping is committed to
//! `fuzz/corpus` by whoever ran it, made small by `cargo xtask soak --keep-corpus`.

use crate::cargo;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tool, and its version.
const TOOL: &str = "cargo-fuzz";
const VERSION: &str = "0.13.2";

/// Every target, in the order of their names.
pub(crate) const TARGETS: [&str; 8] = [
    "cdp_frames",
    "cookie_store",
    "leveldb",
    "redaction",
    "sealed_header",
    "session_file",
    "signature_headers",
    "storage_state",
];

/// What every target is given: how long one input may take, in seconds, how much memory all of it, in
/// MiB, and how long an input may be.
const LIMITS: [&str; 3] = ["-timeout=20", "-rss_limit_mb=2048", "-max_len=16384"];
/// Where the targets write their files, where it is there: what they write is gone with them.
const MEMORY: &str = "/dev/shm";

/// Runs a target for so many minutes; answers whether it found nothing.
pub(crate) fn run(target: &str, minutes: u64) -> Result<bool> {
    let found = grown(target);
    fs::create_dir_all(&found)?;
    let mut fuzz = command(&install()?, "run");
    fuzz.arg(target).args([&found, &kept(target)]).arg("--").args(LIMITS);
    fuzz.arg(format!("-max_total_time={}", minutes * 60)).arg("-print_final_stats=1");
    Ok(cargo::run(&mut fuzz)?.success())
}

/// Puts what the runs found into the corpus that is committed, as few inputs as go the same ways.
pub(crate) fn keep() -> Result<()> {
    let tool = install()?;
    for target in TARGETS {
        let (found, kept) = (grown(target), kept(target));
        fs::create_dir_all(&found)?;
        let few = found.with_extension("few");
        fs::create_dir_all(&few)?;
        let mut merge = command(&tool, "run");
        merge
            .arg(target)
            .args([&few, &kept, &found])
            .args(["--", "-set_cover_merge=1"])
            .args(LIMITS);
        if !cargo::run(&mut merge)?.success() {
            bail!("expected the corpus of {target} to be made small, found a failure");
        }
        fs::remove_dir_all(&kept)?;
        fs::create_dir_all(&kept)?;
        for input in fs::read_dir(&few)? {
            let input = input?;
            fs::copy(input.path(), kept.join(input.file_name()))?;
        }
        fs::remove_dir_all(few)?;
    }
    Ok(())
}

fn command(tool: &Path, verb: &str) -> Command {
    let mut fuzz = Command::new(tool);
    fuzz.args(["fuzz", verb, "--sanitizer", "none", "--target-dir"]).arg(built());
    fuzz.current_dir(cargo::root());
    if Path::new(MEMORY).is_dir() {
        fuzz.env("TMPDIR", MEMORY);
    }
    fuzz
}

/// The tool, installed if it is not there.
fn install() -> Result<PathBuf> {
    let shelf = cargo::root().join("target/tools").join(format!("{TOOL}-{VERSION}"));
    let tool = shelf.join("bin").join(TOOL);
    if !tool.is_file() {
        let mut install = cargo::cargo(&["install", TOOL, "--locked", "--version", VERSION]);
        install.arg("--root").arg(&shelf);
        let done = cargo::run(&mut install).context("could not install cargo-fuzz")?;
        if !done.success() {
            bail!("expected {} to succeed, found {done}", cargo::shown(&install));
        }
    }
    Ok(tool)
}

fn built() -> PathBuf {
    cargo::root().join("target/fuzz")
}

/// Where what a run finds stays.
fn grown(target: &str) -> PathBuf {
    built().join("corpus").join(target)
}

/// The corpus that is committed.
fn kept(target: &str) -> PathBuf {
    cargo::root().join("fuzz/corpus").join(target)
}

#[cfg(test)]
mod tests {
    use super::{TARGETS, kept};
    use crate::cargo;

    #[test]
    fn every_target_is_run_and_has_a_corpus() {
        let sources = std::fs::read_dir(cargo::root().join("fuzz/fuzz_targets")).unwrap();
        let stem =
            |path: std::path::PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut found: Vec<_> = sources.map(|entry| stem(entry.unwrap().path())).collect();
        found.sort();
        assert_eq!(found, TARGETS);
        for target in TARGETS {
            assert!(kept(target).read_dir().unwrap().next().is_some(), "{target} has no corpus");
        }
    }
}
