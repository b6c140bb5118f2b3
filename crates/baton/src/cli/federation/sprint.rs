//! `baton federation sprint`

use super::Desk;
use baton_api::Exit;
use baton_federation::Operation;
use clap::Args;
use serde_json::json;

/// Name the sprint, or end it: then the session is archived
#[derive(Debug, Args)]
pub(super) struct Sprint {
    /// What it is called; the router is to be measured again
    #[arg(required_unless_present = "end", conflicts_with = "end")]
    name: Option<String>,
    /// End it
    #[arg(long)]
    end: bool,
}

impl Sprint {
    pub(super) fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        let agent = desk.agent.clone();
        let Some(sprint) = self.name else { return desk.end(&Operation::EndSprint { agent }) };
        desk.board.write(&Operation::SetSprint { agent, sprint: sprint.clone() })?;
        desk.output.answer(&json!({ "sprint": sprint }), || format!("sprint {sprint}"));
        Ok(Exit::Done)
    }
}
