//! `baton mcp`

mod change;
mod install;
mod serve;
mod uninstall;
mod with;

use super::{Context, consent};
use baton_api::Exit;
use clap::{Args, Subcommand};

pub(super) use change::NotChanged;

/// Let agents use sessions: serve MCP on standard input and output
///
/// MCP is the Model Context Protocol. A client of it starts this; `baton mcp install` writes its configuration. The tools list sessions,
/// open them, bring them back and carry them as files. A node is found, or started, at the first call
/// that needs one; it ends by itself when nobody uses it.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  baton mcp install claude-code   show what changes, and configure a client
  baton mcp                       what a client starts
  baton mcp --with \"npx @playwright/mcp --cdp-endpoint {cdp_url}\"
                                  with Playwright's tools on its browser too"
)]
pub(super) struct Mcp {
    #[command(flatten)]
    serve: serve::Serve,
    #[command(subcommand)]
    command: Option<McpCommand>,
}

#[derive(Debug, Subcommand)]
enum McpCommand {
    Install(install::Install),
    Uninstall(uninstall::Uninstall),
}

impl Mcp {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self.command {
            Some(McpCommand::Install(command)) => command.run(context),
            Some(McpCommand::Uninstall(command)) => command.run(context),
            None => self.serve.run(context),
        }
    }
}
