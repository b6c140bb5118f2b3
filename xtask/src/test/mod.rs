//! `cargo xtask test`: every check of this repository, as steps with a heading and a time each.
//!
//! Every step names the whole workspace with all features, so that each dependency is compiled once
//! for checking and once for running, never more. The tests come last: their closing lines are the
//! last thing that is read before the summary, which adds them up.

pub(crate) mod tally;

use crate::{cargo, chrome, dist, setup, vscode, web};
use anyhow::{Context as _, Result};
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};
use tally::Tally;

/// Set up what the tests need and run all checks: format, the extensions, the page, tidy, lints, docs, tests.
#[derive(clap::Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag that is typed")]
pub(crate) struct Args {
    /// Go on with the next step when one failed.
    #[arg(long)]
    keep_going: bool,

    /// Only drive the extension for VS Code in a real VS Code (code-server), against a real node.
    #[arg(long)]
    vscode: bool,

    /// Only install each package of target/dist, and run the demo from each.
    #[arg(long, conflicts_with = "vscode")]
    dist: bool,

    /// Measure and tell what a start costs, and do not fail for it: this machine is shared with others, whose work
    /// counts in its clock and in its memory.
    #[arg(long, requires = "dist")]
    shared_machine: bool,
}

/// One check that cargo runs.
struct Step {
    name: &'static str,
    args: &'static [&'static str],
    environment: Option<(&'static str, &'static str)>,
}

impl Step {
    fn is_nextest(&self) -> bool {
        self.args.starts_with(&["nextest"])
    }
}

/// The checks that npm runs: of the extension for VS Code, of the page, and of the extension for Chrome in a real
/// browser.
const VSCODE: &str = "vscode";
const WEB: &str = "page";
const CHROME: &str = "chrome";

/// The step that runs everything.
const TESTS: &str = "tests";

const STEPS: [Step; 5] = [
    Step { name: "format", args: &["fmt", "--all", "--check"], environment: None },
    Step {
        name: "tidy",
        args: &["nextest", "run", "--workspace", "--all-features", "--test", "tidy"],
        environment: None,
    },
    Step {
        name: "lints",
        args: &["clippy", "--workspace", "--all-features", "--all-targets", "--", "-D", "warnings"],
        environment: None,
    },
    Step {
        name: "docs",
        args: &["doc", "--workspace", "--all-features", "--no-deps"],
        environment: Some(("RUSTDOCFLAGS", "-D warnings")),
    },
    Step {
        name: TESTS,
        args: &["nextest", "run", "--workspace", "--all-features"],
        // A snapshot that differs is a failure to read here, not a file to find later.
        environment: Some(("INSTA_UPDATE", "no")),
    },
];

/// How many steps come before the extension for VS Code and the page: what is wrong with the format is told at once.
const FAST: usize = 1;
/// How many come before the extension for Chrome: what starts browsers comes last.
const WITHOUT_BROWSERS: usize = 4;
/// How many tests run at once, as nextest reads it.
const THREADS: &str = "NEXTEST_TEST_THREADS";
/// How many tests run at once for each processor: most stories wait for a browser, a lease or a limit
/// part of their time, and leave the processor to another one.
const TESTS_PER_PROCESSOR: usize = 2;

/// Which seed the tests take for what is random, as they read it.
const SEED: &str = "BATON_TEST_SEED";

/// What became of a step.
enum Outcome {
    Passed,
    Failed,
    Skipped,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    if args.vscode {
        return vscode::real::run();
    }
    if args.dist {
        return dist::real::run(args.shared_machine);
    }
    setup::ensure(&setup::TESTS)?;
    let seed = seed();
    println!("{SEED}={seed} makes the same choices again");
    let mut results = Vec::new();
    let mut tally = Tally::default();
    let mut failed = false;
    let names = STEPS.map(|step| step.name);
    let (fast, others) = names.split_at(FAST);
    let (others, last) = others.split_at(WITHOUT_BROWSERS - FAST);
    for name in [fast, &[VSCODE, WEB], others, &[CHROME], last].concat() {
        if failed && !args.keep_going {
            results.push((name, Outcome::Skipped, Duration::ZERO));
            continue;
        }
        println!("\n━━ {name} ━━");
        let start = Instant::now();
        let passed = match STEPS.iter().find(|step| step.name == name) {
            Some(step) => check(step, &seed, &mut tally)?,
            None if name == VSCODE => passes(vscode::check()),
            None if name == WEB => passes(web::check()),
            None => passes(chrome::check()),
        };
        failed |= !passed;
        let outcome = if passed { Outcome::Passed } else { Outcome::Failed };
        results.push((name, outcome, start.elapsed()));
    }
    summarise(&results, &seed, &tally);
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The seed of a run: the one that is named, or a new one, so that each run looks at what none has seen.
fn seed() -> String {
    let new = || (RandomState::new().hash_one(SEED) >> 32).to_string();
    std::env::var(SEED).unwrap_or_else(|_| new())
}

/// Whether a check that tells its failure as an error went well.
fn passes(checked: Result<()>) -> bool {
    checked.map_err(|error| eprintln!("error: {error:#}")).is_ok()
}

/// Runs a step; what nextest reports is added up.
fn check(step: &Step, seed: &str, tally: &mut Tally) -> Result<bool> {
    let mut command = command(step)?;
    let command = command.env(SEED, seed);
    if !step.is_nextest() {
        return Ok(cargo::run(command)?.success());
    }
    if step.name != TESTS {
        return tally.watch(command);
    }
    // Each test is a process of its own; one server for all of them starts once.
    let server = baton_postgres::Server::start()?;
    tally.watch(command.env(baton_postgres::SHARED, server.folder()))
}

fn command(step: &Step) -> Result<Command> {
    let mut command = if step.is_nextest() {
        let mut command = nextest(step.args)?;
        if std::env::var_os(THREADS).is_none() {
            let processors = available_parallelism().map_or(1, usize::from);
            command.env(THREADS, (processors * TESTS_PER_PROCESSOR).to_string());
        }
        command
    } else {
        cargo::cargo(step.args)
    };
    command.envs(step.environment);
    Ok(command)
}

/// A nextest command that will run at the root of the repository.
pub(crate) fn nextest(args: &[&str]) -> Result<Command> {
    let program = setup::NEXTEST.find().context("expected cargo-nextest, found none")?;
    let own = program.parent().map(Path::to_owned);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::env::split_paths(&path).chain(own))?;
    let mut command = cargo::cargo(args);
    command.env("PATH", path);
    Ok(command)
}

fn summarise(results: &[(&str, Outcome, Duration)], seed: &str, tally: &Tally) {
    println!("\n━━ summary ━━");
    for (name, outcome, took) in results {
        match outcome {
            Outcome::Passed => println!("✓ {name:<8} {:>7.1} s", took.as_secs_f64()),
            Outcome::Failed => println!("✗ {name:<8} {:>7.1} s", took.as_secs_f64()),
            Outcome::Skipped => println!("- {name:<8} not run"),
        }
    }
    let total: Duration = results.iter().map(|(_, _, took)| *took).sum();
    println!("  {:<8} {:>7.1} s", "total", total.as_secs_f64());
    println!("  {SEED}={seed} makes the same choices again\n\n{tally}");
}

#[cfg(test)]
mod tests {
    use super::STEPS;
    use std::collections::BTreeSet;

    #[test]
    fn no_flag_is_given_twice_which_cargo_refuses() {
        for step in &STEPS {
            let distinct: BTreeSet<_> = step.args.iter().collect();
            assert_eq!(distinct.len(), step.args.len(), "{}: {:?}", step.name, step.args);
        }
    }
}
