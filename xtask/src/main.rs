//! `cargo xtask`: the chores of this repository, one command each.
//!
//! A newcomer needs two of them: `demo` shows what Baton does, `test` runs every check. Each
//! command is a file of its own and reads as a list of steps.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool prints")]

mod bench;
mod cargo;
mod chrome;
mod demo;
mod dist;
mod fuzz;
mod redactor;
mod setup;
mod soak;
mod test;
mod vscode;
mod web;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// The chores of this repository.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Setup(setup::Args),
    Demo(demo::Args),
    Test(test::Args),
    Soak(soak::Args),
    Bench(bench::Args),
    Dist(dist::Args),
    Redactor(redactor::Args),
}

fn main() -> ExitCode {
    let done = match Args::parse().command {
        Command::Setup(args) => setup::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Soak(args) => soak::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Dist(args) => dist::run(&args),
        Command::Redactor(args) => redactor::run(&args),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_commands_are_well_formed() {
        super::Args::command().debug_assert();
    }
}
