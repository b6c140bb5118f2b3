//! `baton mcp`

mod change;
mod install;
mod uninstall;

use super::{Context, consent};
use baton_api::Exit;
use clap::{Args, Subcommand};

pub(super) use change::NotChanged;

/// Let agents use sessions
#[derive(Debug, Args)]
pub(super) struct Mcp {
    #[command(subcommand)]
    command: McpCommand,
}

#[derive(Debug, Subcommand)]
enum McpCommand {
    Install(install::Install),
    Uninstall(uninstall::Uninstall),
}

impl Mcp {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self.command {
            McpCommand::Install(command) => command.run(context),
            McpCommand::Uninstall(command) => command.run(context),
        }
    }
}
