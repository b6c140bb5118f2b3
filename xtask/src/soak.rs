//! `cargo xtask soak`: the long version of the story in which everything is killed at random.
//!
//! It is the same test that `cargo xtask test` runs, with more rounds; the test reads their number
//! from `BATON_SOAK_ROUNDS`.

use crate::test::tally::Tally;
use crate::{cargo, setup};
use anyhow::{Result, ensure};
use std::process::ExitCode;

/// Kill browser, keeper and node at random moments, many times, and check that nothing acknowledged is lost.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many times everything is killed and brought back.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// The test, by its full name.
const STORY: &str = "kills::what_was_acknowledged_survives_every_kill";

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    setup::ensure(&setup::DEMO)?;
    let mut soak = cargo::cargo(&["test", "--release", "--package", "baton", "--test", "it"]);
    soak.args(["--", "--nocapture", "--exact", STORY]);
    soak.env("BATON_SOAK_ROUNDS", args.rounds.to_string());
    let mut tally = Tally::default();
    let passed = tally.watch(&mut soak)?;
    // Cargo is content when a name fits no test; a soak that soaked nothing is a failure.
    ensure!(tally.ran() == 1, "expected the test {STORY}, found {} tests that ran", tally.ran());
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
