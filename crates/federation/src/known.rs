//! What is known of a session without its file: by the log, and by the copy.

use crate::board::Board;
use crate::change::{Change, Entry};
use crate::folder::{Folder, fetch};
use crate::read::parse;

/// The log, and the copy.
pub(crate) struct Known<'a> {
    pub(crate) folder: &'a Folder,
    pub(crate) entries: Vec<Entry>,
}

impl Known<'_> {
    /// Applies the operations that a board lacks.
    pub(crate) fn lift(&self, board: &mut Board) {
        let from = board.rev;
        let (session, before) = (board.session_id.clone(), board.agents.clone());
        let lacking = self.entries.iter().filter(|entry| entry.rev > from);
        for entry in lacking.filter(|entry| entry.session == session) {
            entry.apply_again(board, &before);
        }
    }

    /// Whether the log says that a session ended.
    pub(crate) fn is_closed(&self, session: &str) -> bool {
        let mut of_session = self.entries.iter().filter(|entry| entry.session == session);
        of_session.next_back().is_some_and(|entry| matches!(entry.change, Change::Close { .. }))
    }

    /// Ends a session that was not ended in an orderly way.
    pub(crate) fn close(&self, board: &mut Board) {
        self.lift(board);
        if !board.is_closed() {
            "closed".clone_into(&mut board.status);
            let last = crate::stamp::Stamp::from(board.last_activity().unwrap_or_default());
            board.closed_at.get_or_insert(last);
            board.closed_because.get_or_insert_with(|| "replaced".to_owned());
        }
    }

    /// The copy of a session from before the last write, with all that the log has.
    pub(crate) fn copy(&self, session: &str) -> Option<Board> {
        // One that cannot be read is as good as none.
        let bytes = fetch(&self.folder.last()).ok()??;
        let mut copy = parse(&bytes).ok().filter(|copy| copy.session_id == session)?;
        self.lift(&mut copy);
        Some(copy)
    }

    /// A session as far as it is known without its file.
    pub(crate) fn restore(&self, session: &str) -> Option<Board> {
        if let Some(copy) = self.copy(session) {
            return Some(copy);
        }
        let begin = self.entries.iter().find_map(|entry| match &entry.change {
            Change::Begin { owner } if entry.session == session => Some((entry, owner)),
            _ => None,
        });
        begin.map(|(entry, owner)| {
            let mut board = Board::new(session, owner.clone(), &entry.at);
            self.lift(&mut board);
            board
        })
    }
}
