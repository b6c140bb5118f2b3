//! `baton completions`

use super::Cli;
use baton_api::Exit;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::io::Write;

/// Write the completions of a shell to standard output
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  baton completions bash > ~/.local/share/bash-completion/completions/baton")]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self) -> Exit {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "baton", &mut script);
        // A reader that has seen enough closes the pipe: that is no failure.
        let _ = std::io::stdout().write_all(&script);
        Exit::Done
    }
}
