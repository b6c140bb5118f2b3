//! `baton federation update`

use super::Desk;
use baton_api::Exit;
use baton_federation::{AgentName, Operation};
use clap::Args;
use serde_json::json;

/// Say what an agent does
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  baton federation update kimi active --task \"testing the router\"")]
pub(super) struct Update {
    /// The agent that you are
    agent: AgentName,
    /// In a word: active, idle, standby …
    status: String,
    /// What you work on; without it nothing
    #[arg(long, value_name = "TEXT")]
    task: Option<String>,
    /// The folder in which you work; without it what it was
    #[arg(long, value_name = "DIR")]
    workspace: Option<String>,
    /// The model that you run; without it what it was
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
}

impl Update {
    pub(super) fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        let Self { agent, status, task, workspace, model } = self;
        let shown = format!("{agent}  {status}");
        let name = agent.to_string();
        let operation =
            Operation::UpdateAgent { agent, status, current_task: task, workspace, model };
        let done = desk.board.write(&operation)?;
        let entry = done.board.as_ref().and_then(|board| board.agents.get(&name));
        desk.output.answer(&json!({ "agent": entry }), || shown);
        Ok(Exit::Done)
    }
}
