//! `cargo xtask soak`: the long version of the story in which everything is killed at random, and
//! the stories of disks that fail.
//!
//! The first is the same test that `cargo xtask test` runs, with more rounds; the test reads their
//! number from `BATON_SOAK_ROUNDS`. The others mount disks of their own, so only root can run them:
//! for anybody else they say that they were skipped.

use crate::test::tally::Tally;
use crate::{cargo, setup};
use anyhow::{Result, ensure};
use std::process::ExitCode;

/// Kill browser, keeper and node at random moments, many times, fill and break the disk, and check that nothing acknowledged is lost.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many times everything is killed and brought back.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// The tests, by their full names.
const STORIES: [&str; 3] = [
    "kills::what_was_acknowledged_survives_every_kill",
    "disk::a_full_disk_costs_no_snapshot_and_no_browser",
    "disk::a_disk_that_takes_no_writes_costs_no_snapshot_and_no_browser",
];

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    setup::ensure(&setup::DEMO)?;
    let mut soak = cargo::cargo(&["test", "--release", "--package", "baton", "--test", "it"]);
    soak.args(["--", "--nocapture", "--include-ignored", "--exact"]).args(STORIES);
    soak.env("BATON_SOAK_ROUNDS", args.rounds.to_string());
    let mut tally = Tally::default();
    let passed = tally.watch(&mut soak)?;
    // Cargo is content when a name fits no test; a soak that soaked nothing is a failure.
    let (expected, found) = (STORIES.len(), tally.ran());
    ensure!(found == expected as u64, "expected {expected} tests, found {found} that ran");
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
