//! `cargo xtask setup`: makes sure that the programs are there which the demo and the tests start.
//!
//! It installs only where it can do so without a question: with apt, as root or through a `sudo`
//! that asks no password. Everywhere else it says exactly what to type, and fails. No service is
//! started by it: nginx is only unpacked, below `target/tools`, where nextest is built.

mod install;
mod need;

pub(crate) use need::{
    AGE, C_COMPILER, CHROMIUM, DRIVER, KEYRING, NETWORKS, NEXTEST, NGINX, NODE, Need, POSTGRESQL,
    PYTHON, SANDBOXES, VSCODE,
};

use anyhow::{Result, bail};
use std::process::ExitCode;

/// What the demo starts.
pub(crate) const DEMO: [&Need; 2] = [&C_COMPILER, &CHROMIUM];

/// What the soak starts.
pub(crate) const SOAK: [&Need; 3] = [&C_COMPILER, &NEXTEST, &CHROMIUM];

/// What the tests start.
pub(crate) const TESTS: [&Need; 12] = [
    &C_COMPILER,
    &NEXTEST,
    &CHROMIUM,
    &DRIVER,
    &POSTGRESQL,
    &AGE,
    &NODE,
    &PYTHON,
    &KEYRING,
    &SANDBOXES,
    &NETWORKS,
    &NGINX,
];

/// Install what the demo and the tests need: Chromium, PostgreSQL's server programs, age, Node, Python, a
/// keyring, what sandboxes and networks are made with, nginx, a driver for Selenium, a C compiler. It starts
/// no service: nginx is only unpacked, below `target/tools`. nextest is built there where it is missing.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only say what is there and what is missing; install nothing.
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.check {
        let complete = missing(&TESTS).is_empty();
        return Ok(if complete { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    ensure(&TESTS)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns when all `needs` are met; installs what is missing.
pub(crate) fn ensure(needs: &[&'static Need]) -> Result<()> {
    let missing = missing(needs);
    if missing.is_empty() {
        return Ok(());
    }
    install::install(&missing)?;
    for need in missing {
        if need.find().is_none() {
            bail!("installed {}, but expected {} and found none", need.name, need.expected);
        }
    }
    Ok(())
}

/// Says of each need where it was found; returns the others.
fn missing(needs: &[&'static Need]) -> Vec<&'static Need> {
    let mut missing = Vec::new();
    for need in needs {
        if let Some(path) = need.find() {
            eprintln!("✓ {:<12} {}", need.name, path.display());
        } else {
            eprintln!("✗ {:<12} missing: {}, expected {}", need.name, need.purpose, need.expected);
            missing.push(*need);
        }
    }
    missing
}
