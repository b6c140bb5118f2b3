//! The binary: what was typed becomes an operation of a node, and its answer becomes text.
//!
//! The only place that reads the environment, knows the home folder, and writes to a terminal.
//! Rooms: [`cli`] has one file for each group of commands; [`local`] is what each of them is given, and
//! finds or starts the node of a data folder; [`bridge`] is an MCP server in front of it;
//! [`clients`] knows the files of the programs in which agents run; [`browsers`] knows the profiles
//! of a person's own browsers; [`output`] writes tables, documents and progress; [`demo`] tells the
//! whole story.

mod bridge;
mod browsers;
mod cli;
mod clients;
mod demo;
mod local;
mod output;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(std::env::args_os().collect())
}
