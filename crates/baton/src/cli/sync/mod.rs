//! `baton sync`, one file a verb.

mod conflicts;
mod direction;
mod movement;
mod peers;
mod resolve;
mod run;
mod status;

use super::Context;
use baton_api::Exit;
use clap::Subcommand;

/// Move sessions between this node and its peers, and choose where both changed one
#[derive(Debug, Subcommand)]
pub(super) enum Sync {
    Run(run::Run),
    Status(status::Status),
    Conflicts(conflicts::Conflicts),
    Resolve(resolve::Resolve),
}

impl Sync {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::Run(command) => command.run(context).await,
            Self::Status(command) => command.run(context).await,
            Self::Conflicts(command) => command.run(context).await,
            Self::Resolve(command) => command.run(context).await,
        }
    }
}
