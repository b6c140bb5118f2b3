//! `baton peers`, one file a verb.

mod add;
mod confirm;
mod limit;
mod list;
mod part;
mod ping;
mod remove;
mod secret;
mod shown;

pub(super) use confirm::NotCompared;
pub(super) use secret::PeerKeyError;
pub(super) use shown::NotShown;

use super::Context;
use baton_api::Exit;
use clap::{Args, Subcommand};

/// Register, confirm, limit, list, ping, remove nodes with which sessions are exchanged
#[derive(Debug, Subcommand)]
pub(super) enum Peers {
    Add(Box<add::Add>),
    List(list::List),
    Confirm(confirm::Confirm),
    Limit(limit::Limit),
    Ping(ping::Ping),
    Remove(remove::Remove),
}

/// Which peer.
#[derive(Debug, Args)]
struct Reference {
    /// A peer: its name, its node id, or a unique prefix of that
    #[arg(value_name = "PEER")]
    id: String,
}

impl Peers {
    pub(super) async fn run(self, context: &Context) -> anyhow::Result<Exit> {
        match self {
            Self::Add(command) => command.run(context).await,
            Self::List(command) => command.run(context).await,
            Self::Confirm(command) => command.run(context).await,
            Self::Limit(command) => command.run(context).await,
            Self::Ping(command) => command.run(context).await,
            Self::Remove(command) => command.run(context).await,
        }
    }
}
