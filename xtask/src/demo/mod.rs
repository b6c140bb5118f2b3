//! `cargo xtask demo`: installs what is missing, builds `baton` and runs `baton demo`.

mod picture;

use crate::{cargo, setup};
use anyhow::{Context as _, Result};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Install what is missing (Chromium), build Baton and run `baton demo`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Draw what it writes, as an SVG that moves, such as docs/pictures/demo.svg
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// What `baton demo` itself is given, such as `--json`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    demo: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    setup::ensure(&setup::DEMO)?;
    // The development profile: from a cold clone it takes 3 minutes of a processor, a release build
    // with its link-time optimisation 10; and the demo waits for Chromium, not for our code.
    if let Some(file) = &args.picture {
        // Built first: what the picture shows begins with the demo.
        if !cargo::run(&mut cargo::cargo(&["build", "--package", "baton"]))?.success() {
            return Ok(ExitCode::FAILURE);
        }
        picture::record(&cargo::target().join("debug/baton"), &args.demo, file)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut demo = cargo::cargo(&["run", "--package", "baton", "--", "demo"]);
    demo.args(&args.demo);
    // It takes our place, so that a Ctrl-C finds it and is waited for while it clears up.
    let error = demo.exec();
    Err(error).with_context(|| format!("could not start {}", cargo::shown(&demo)))
}
