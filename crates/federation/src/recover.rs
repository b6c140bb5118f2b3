//! A board that cannot be read: it is put aside, never replaced, until somebody asks for the last good
//! one.

use crate::board::Board;
use crate::change::Change;
use crate::error::FederationError;
use crate::folder::Folder;
use crate::known::Known;
use crate::log::Log;
use crate::{archive, quarantine};

/// Where a board came from that was put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Our copy, with the operations of the log: the same session.
    Copy,
    /// The newest of the history, as a session of its own.
    History,
}

/// A good board, and where it comes from.
pub(crate) struct Good {
    pub(crate) board: Board,
    pub(crate) source: Source,
}

/// The error of a board that cannot be read. A copy of it is put aside.
pub(crate) fn unreadable(folder: &Folder, bytes: &[u8], why: String) -> FederationError {
    // What cannot be copied (a read-only folder) still lies where it is.
    let copy = quarantine::keep(folder, bytes).ok();
    let good = find(folder).ok().flatten().map(|good| {
        let Board { session_id, rev, updated_at, .. } = &good.board;
        let time = updated_at.as_ref().map(|time| format!(" of {time}")).unwrap_or_default();
        match good.source {
            Source::Copy => format!("{session_id} as it was acknowledged last, rev {rev}"),
            Source::History => format!("the archived session {session_id}{time}"),
        }
    });
    FederationError::Unreadable { path: folder.board(), why, copy, good }
}

/// The last good board.
pub(crate) fn find(folder: &Folder) -> Result<Option<Good>, FederationError> {
    let known = Known { folder, entries: Log::of(folder).entries()? };
    let last = known.entries.last();
    let is_open = last.is_some_and(|last| !matches!(last.change, Change::Close { .. }));
    if let Some(last) = last.filter(|_| is_open)
        && let Some(board) = known.restore(&last.session)
    {
        return Ok(Some(Good { board, source: Source::Copy }));
    }
    let newest = archive::list(folder, 1)?.pop();
    Ok(newest.map(|archived| Good { board: archived.board, source: Source::History }))
}
