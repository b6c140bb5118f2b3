//! `baton federation task list`

use super::Desk;
use crate::output;
use baton_api::Exit;
use clap::Args;
use serde_json::json;

/// Show the tasks that are open
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Those that are done as well
    #[arg(long)]
    all: bool,
}

impl List {
    pub(super) fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        let Some(view) = desk.view()? else {
            desk.output.answer(&json!({ "items": [] }), || "no active session".to_owned());
            return Ok(Exit::Done);
        };
        let tasks = view.board.tasks.iter().filter(|task| self.all || !task.is_completed());
        let tasks: Vec<_> = tasks.collect();
        desk.output.answer(&json!({ "items": tasks }), || output::tasks(&view, &tasks));
        Ok(Exit::Done)
    }
}
