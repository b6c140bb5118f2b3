//! `baton sandbox`, one file a verb.

mod create;
mod delete;
mod exec;
mod list;
mod show;

use super::Context;
use baton_api::Exit;
use clap::{Args, Subcommand};

/// Make sandboxes that are logged in, run commands in them, list, show and end them
#[derive(Debug, Subcommand)]
pub(super) enum Sandbox {
    Create(Box<create::Create>),
    List(list::List),
    Show(show::Show),
    Exec(exec::Exec),
    Delete(delete::Delete),
}

/// Which sandbox.
#[derive(Debug, Args)]
struct Reference {
    /// Its id, or a unique prefix of it
    #[arg(value_name = "SANDBOX")]
    id: String,
}

impl Sandbox {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::Create(command) => command.run(context).await,
            Self::List(command) => command.run(context).await,
            Self::Show(command) => command.run(context).await,
            Self::Exec(command) => command.run(context).await,
            Self::Delete(command) => command.run(context).await,
        }
    }
}
