//! `baton federation status`

use super::{Desk, driven};
use crate::context::Context;
use crate::output;
use baton_api::Exit;
use clap::Args;
use jiff::Timestamp;
use serde_json::json;

/// Show who does what, and which agent drives which browser session
#[derive(Debug, Args)]
#[command(after_help = "\
With --json: `board`, null when no session is active; and `sessions`, null when no node runs that
could tell which agent drives which.")]
pub(super) struct Status {}

impl Status {
    #[expect(clippy::unused_self, reason = "as every command")]
    pub(super) fn run(self, desk: &Desk, context: &Context) -> anyhow::Result<Exit> {
        let view = desk.view()?;
        let sessions = driven::ask(context);
        desk.output.answer(&json!({ "board": view, "sessions": sessions }), || {
            let now = Timestamp::now();
            let board = match &view {
                Some(view) => output::board(view, now),
                None => "no active session; the first update or task begins one".to_owned(),
            };
            let driven = sessions.filter(|sessions| !sessions.is_empty());
            let driven = driven.map(|sessions| output::driven(&sessions, now));
            [Some(board), driven].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
        });
        Ok(Exit::Done)
    }
}
