//! `baton federation task block`

use super::super::desk::MaybeAs;
use super::Desk;
use baton_api::Exit;
use baton_federation::Operation;
use clap::Args;

/// Let a task wait until others are done
#[derive(Debug, Args)]
pub(crate) struct Block {
    /// Which task
    #[arg(value_name = "ID")]
    id: String,
    /// For which others
    #[arg(long, value_name = "ID", required = true, num_args = 1..)]
    on: Vec<String>,
    #[command(flatten)]
    who: MaybeAs,
}

impl Block {
    pub(super) fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        desk.change(&Operation::BlockTask { agent: self.who.agent, task: self.id, on: self.on })
    }
}
