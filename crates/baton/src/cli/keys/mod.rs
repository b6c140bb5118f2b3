//! `baton keys`, one file a verb.

mod create;
mod list;
mod revoke;

use super::Context;
use baton_api::Exit;
use clap::Subcommand;

/// Make, list and revoke API keys
#[derive(Debug, Subcommand)]
pub(super) enum Keys {
    Create(create::Create),
    List(list::List),
    Revoke(revoke::Revoke),
}

impl Keys {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::Create(command) => command.run(context).await,
            Self::List(command) => command.run(context).await,
            Self::Revoke(command) => command.run(context).await,
        }
    }
}
