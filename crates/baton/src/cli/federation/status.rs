//! `baton federation status`

use super::Desk;
use crate::output;
use baton_api::Exit;
use clap::Args;
use jiff::Timestamp;

/// Show who does what
#[derive(Debug, Args)]
pub(super) struct Status {}

impl Status {
    #[expect(clippy::unused_self, reason = "as every command")]
    pub(super) fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        let view = desk.view()?;
        desk.output.answer(&view, || match &view {
            Some(view) => output::board(view, Timestamp::now()),
            None => "no active session; the first update or task begins one".to_owned(),
        });
        Ok(Exit::Done)
    }
}
