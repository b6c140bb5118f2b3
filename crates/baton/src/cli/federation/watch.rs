//! `baton federation watch`

use super::Desk;
use crate::output;
use baton_api::Exit;
use baton_federation::{Board, Seen, View};
use clap::Args;
use jiff::Timestamp;
use std::time::{Duration, Instant};

/// The longest single wait; the loop begins again after it.
const WAIT: Duration = Duration::from_hours(1);

/// Show the board, and again whenever it changes
#[derive(Debug, Args)]
#[command(after_help = "\
With --json there is a document a line, `null` when no session is active.

Example:
  baton federation watch --once --for 10m    wait until something changes")]
pub(super) struct Watch {
    /// Show nothing at first, and end after the first change
    #[arg(long)]
    once: bool,
    /// End after this time
    #[arg(long = "for", value_name = "DURATION", value_parser = super::duration)]
    limit: Option<jiff::SignedDuration>,
}

impl Watch {
    pub(super) fn run(self, desk: &Desk) -> anyhow::Result<Exit> {
        let mut watch = desk.board.watch()?;
        let limit = self.limit.and_then(|limit| Duration::try_from(limit).ok());
        let end = limit.map(|limit| Instant::now() + limit);
        if !self.once && !show(desk, watch.board().cloned()) {
            return Ok(Exit::Done);
        }
        loop {
            let left = end.map_or(WAIT, |end| end.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(Exit::Done);
            }
            if let Seen::Changed(board) = watch.wait(left.min(WAIT))?
                && (!show(desk, board.map(|board| *board)) || self.once)
            {
                return Ok(Exit::Done);
            }
        }
    }
}

/// Shows the board; false when nobody reads any more.
fn show(desk: &Desk, board: Option<Board>) -> bool {
    let now = Timestamp::now();
    let view = board.map(|board| View::of(board, now, desk.board.options().gone_after));
    desk.output.goes_on(&view, || match &view {
        Some(view) => format!("{}\n", output::board(view, now)),
        None => "no active session\n".to_owned(),
    })
}
