//! `baton federation task block`

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
}

impl Block {
    pub(super) fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        desk.change(&Operation::BlockTask { agent: desk.agent.clone(), task: self.id, on: self.on })
    }
}
