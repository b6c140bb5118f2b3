//! `baton sessions usage`: what an owner has over all nodes, and how much it may have.

use crate::cli::Context;
use crate::output;
use baton_api::Exit;
use baton_session::Owner;
use clap::Args;

/// Show how many sessions, browsers, sandboxes and bytes you have, and may have
#[derive(Debug, Args)]
#[command(after_help = "\
Over all nodes of the database. What bounds them are [[quotas]] in the settings of the nodes; where
something has none, the column says so. baton sandbox rm, baton sessions close and delete make room.

Example:
  baton sessions usage --owner shop")]
pub(in crate::cli) struct Usage {
    /// Whose [default: your own]; another one's needs the scope admin
    #[arg(long)]
    owner: Option<Owner>,
}

impl Usage {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        let usage = context.client().await?.show_usage(self.owner.as_ref()).await?;
        context.output.answer(&usage, || output::usage(&usage));
        Ok(Exit::Done)
    }
}
