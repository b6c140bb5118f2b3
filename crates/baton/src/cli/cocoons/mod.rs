//! `baton cocoons`, one file a verb.

mod add;
mod list;
mod open;
mod remove;

use super::Context;
use baton_api::Exit;
use clap::Subcommand;

/// Name the services behind the node's proxy, list, open and remove them
#[derive(Debug, Subcommand)]
pub(super) enum Cocoons {
    Add(add::Add),
    List(list::List),
    Open(open::Open),
    Remove(remove::Remove),
}

impl Cocoons {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::Add(command) => command.run(context).await,
            Self::List(command) => command.run(context).await,
            Self::Open(command) => command.run(context).await,
            Self::Remove(command) => command.run(context).await,
        }
    }
}
