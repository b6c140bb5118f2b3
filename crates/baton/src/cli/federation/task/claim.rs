//! `baton federation task claim`

use super::Desk;
use baton_api::Exit;
use baton_federation::Operation;
use clap::Args;

/// Take a task: exactly one agent gets it
#[derive(Debug, Args)]
#[command(after_help = "\
Without an ID the best that is free is taken: the highest priority, then the oldest. A claim lasts as
long as you are seen: every command of yours counts. The fence that is shown is the claim's number.")]
pub(crate) struct Claim {
    /// Which task
    #[arg(value_name = "ID")]
    id: Option<String>,
}

impl Claim {
    pub(super) fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        desk.change(&Operation::ClaimTask { agent: desk.who()?, task: self.id })
    }
}
