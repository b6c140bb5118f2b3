//! `baton federation task add`

use super::Desk;
use baton_api::Exit;
use baton_federation::{AgentName, Operation, Priority};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Add something to do
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  baton federation task add \"publish the docs\" --priority high \\
    --after task-x7k2pq")]
pub(crate) struct Add {
    /// What is to be done; keep secrets out of it
    #[arg(value_name = "TEXT")]
    text: String,
    /// How soon
    #[arg(long, default_value = "normal", value_parser = priorities())]
    priority: Priority,
    /// Only for this agent
    #[arg(long = "for", value_name = "AGENT")]
    meant_for: Option<AgentName>,
    /// Tasks that must be done before
    #[arg(long, value_name = "ID", num_args = 1..)]
    after: Vec<String>,
}

impl Add {
    pub(super) fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        desk.change(&Operation::AddTask {
            description: self.text,
            priority: self.priority,
            agent: desk.agent.clone(),
            assigned_to: self.meant_for,
            blocked_by: self.after,
        })
    }
}

/// The words that we know; another program may use others.
fn priorities() -> impl TypedValueParser<Value = Priority> {
    PossibleValuesParser::new(["low", "normal", "high", "urgent"]).map(Priority::from)
}
