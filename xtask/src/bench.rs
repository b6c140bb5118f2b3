//! `cargo xtask bench`: what keeping a session costs, measured against its baselines.

use crate::{cargo, chrome, setup};
use anyhow::Result;
use std::process::{Command, ExitCode};

/// Measure what capturing, resuming, resting and a thousand sessions cost, beside other tools too;
/// results go to bench/results.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What the benchmark itself is given, such as `--capture-pairs 60` or `--only idle`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    bench: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    setup::ensure(&setup::DEMO)?;
    // What people get is what is measured.
    let build = ["build", "--profile", "dist", "--package", "baton", "--package", "baton-bench"];
    if !cargo::run(&mut cargo::cargo(&build))?.success() {
        return Ok(ExitCode::FAILURE);
    }
    // What was built together runs: to build one of them alone, with other features, is to build anew.
    let folder = cargo::target().join("dist");
    let mut bench = Command::new(folder.join("baton-bench"));
    bench.current_dir(cargo::root());
    // It finds programs on the PATH; nginx may be elsewhere.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let nginx = setup::NGINX.find().and_then(|nginx| Some(nginx.parent()?.to_owned()));
    bench.env("PATH", std::env::join_paths(std::env::split_paths(&path).chain(nginx))?);
    bench.arg("--baton").arg(folder.join("baton")).args(&args.bench);
    let done = cargo::run(&mut bench)?.success();
    if args.bench.is_empty() {
        chrome::bench()?;
    }
    Ok(if done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
