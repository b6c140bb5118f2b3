//! `baton federation history`

use super::Desk;
use crate::output;
use baton_api::Exit;
use baton_federation::View;
use clap::Args;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

/// Show the archived sessions, newest first, or one of them
#[derive(Debug, Args)]
pub(super) struct History {
    /// Which: its name or its session's id
    #[arg(value_name = "SESSION")]
    session: Option<String>,
    /// How many at most
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
}

impl History {
    pub(super) fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        if let Some(session) = &self.session {
            let archived = desk.board.archived(session)?;
            let then = archived.board.last_activity().unwrap_or_else(Timestamp::now);
            let view = View::of(archived.board, then, SignedDuration::MAX);
            desk.output.answer(&view.board, || {
                let all: Vec<_> = view.board.tasks.iter().collect();
                format!("{}\n\n{}", view.board.session_id, output::tasks(&view, &all))
            });
            return Ok(Exit::Done);
        }
        let sessions = desk.board.history(usize::from(self.limit))?;
        let items: Vec<_> = sessions
            .iter()
            .map(|one| {
                let board = &one.board;
                json!({
                    "name": one.name, "session_id": board.session_id, "sprint": board.sprint,
                    "created_at": board.created_at, "closed_at": board.closed_at,
                    "closed_because": board.closed_because, "tasks": board.tasks.len(),
                })
            })
            .collect();
        desk.output.answer(&json!({ "items": items }), || output::archived(&sessions));
        Ok(Exit::Done)
    }
}
