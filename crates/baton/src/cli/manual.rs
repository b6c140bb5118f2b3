//! `baton man`: the manual pages, for those who package the program.

use anyhow::Context as _;
use baton_api::Exit;
use clap::Args;
use std::path::PathBuf;

/// Write the manual pages, one a command
#[derive(Debug, Args)]
pub(super) struct Man {
    /// The folder that they go into
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
}

impl Man {
    /// Writes a page for each command that help shows.
    pub(super) fn run(self, command: clap::Command) -> anyhow::Result<Exit> {
        std::fs::create_dir_all(&self.to)
            .and_then(|()| clap_mangen::generate_to(command, &self.to))
            .with_context(|| format!("could not write the manual to {}", self.to.display()))?;
        Ok(Exit::Done)
    }
}
