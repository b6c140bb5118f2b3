//! What `baton federation task start`, `done` and `release` take.

use super::super::desk::As;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Held {
    /// Which task
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    who: As,
    /// The number that the claim gave you: if somebody took the task over since, you are told
    #[arg(long, value_name = "NUMBER")]
    fence: Option<u64>,
}

impl From<Held> for baton_federation::Held {
    fn from(held: Held) -> Self {
        Self { agent: held.who.agent, task: held.id, fence: held.fence }
    }
}
