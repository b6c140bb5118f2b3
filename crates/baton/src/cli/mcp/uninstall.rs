//! `baton mcp uninstall`

use super::Context;
use super::change::Manner;
use crate::clients::{self, Client, Homes};
use baton_api::Exit;
use clap::Args;

/// Take Baton out of the MCP servers of a program
#[derive(Debug, Args)]
#[command(after_help = "\
What would change is shown first, and you are asked. Everything else in the file stays as it is.

Example:
  baton mcp uninstall codex")]
pub(super) struct Uninstall {
    /// Of which program
    #[arg(value_name = "CLIENT", required = true)]
    clients: Vec<Client>,
    #[command(flatten)]
    manner: Manner,
}

impl Uninstall {
    pub(super) fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let homes = Homes::of_this_user()?;
        self.manner.change(context, &homes, &self.clients, None, |text, client| {
            clients::remove(text, client.form())
        })
    }
}
