//! `baton federation recover`

use super::Desk;
use baton_api::Exit;
use baton_federation::Source;
use clap::Args;
use serde_json::json;

/// Put the last good board in the place of one that cannot be read, which is kept beside it
#[derive(Debug, Args)]
pub(super) struct Recover {}

impl Recover {
    #[expect(clippy::unused_self, reason = "as every command")]
    pub(super) fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        let (board, source) = desk.board.recover()?;
        let from = match source {
            Source::Copy => "copy",
            Source::History => "history",
        };
        let document = json!({ "session_id": board.session_id, "rev": board.rev, "from": from });
        desk.output.answer(&document, || match source {
            Source::Copy => format!("{} is back, as it was acknowledged last", board.session_id),
            Source::History => {
                format!("{} goes on from the newest archived session", board.session_id)
            }
        });
        Ok(Exit::Done)
    }
}
