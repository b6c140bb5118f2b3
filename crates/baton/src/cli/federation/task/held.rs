//! What `baton federation task start`, `done` and `release` take.

use super::Desk;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Held {
    /// Which task
    #[arg(value_name = "ID")]
    id: String,
    /// The number that the claim gave you: if somebody took the task over since, you are told
    #[arg(long, value_name = "NUMBER")]
    fence: Option<u64>,
}

impl Held {
    /// It, of whoever acts.
    pub(super) fn of(self, desk: &Desk) -> anyhow::Result<baton_federation::Held> {
        Ok(baton_federation::Held { agent: desk.who()?, task: self.id, fence: self.fence })
    }
}
