//! What the board is, from all that lies in the folder: the file, the log, the copy, and what killed
//! writers left. Nothing is written here.
//!
//! The one idea: *the log has the last word about what was acknowledged, the file about everything
//! else*. A file that lacks operations of the log gets them again; a session that the log does not
//! know was begun by another program.

use crate::board::Board;
use crate::error::FederationError;
use crate::folder::{Folder, fetch};
use crate::log::Log;
use crate::merge::{Sight, merge};
use crate::operation::{Change, Entry};
use crate::read::{Content, StoredBoard, parse, read};
use crate::swap::{Leftover, leftovers};
use crate::{archive, read};

/// What was found, and what it comes to.
#[derive(Debug)]
pub(crate) struct Gathered {
    /// What is in the file.
    pub(crate) found: Option<StoredBoard>,
    /// What should stand there; none when no session is active.
    pub(crate) board: Option<Board>,
    /// Sessions that ended and belong into the history.
    pub(crate) ended: Vec<Board>,
    /// What the log lacks: that a session was begun or ended by another program.
    pub(crate) missing: Option<(Board, Change)>,
    /// What killed writers left behind.
    pub(crate) leftovers: Vec<Leftover>,
    /// The last operation.
    pub(crate) last: Option<Entry>,
}

impl Gathered {
    /// Whether everything is as it should be.
    pub(crate) fn is_settled(&self) -> bool {
        let in_place = self.found.as_ref().map(|found| &found.board);
        in_place == self.board.as_ref()
            && self.ended.is_empty()
            && self.missing.is_none()
            && self.leftovers.is_empty()
    }
}

/// Looks at everything.
pub(crate) fn gather(folder: &Folder) -> Result<Gathered, FederationError> {
    let glance = Glance::gather(folder)?;
    let is_all = glance.is_all();
    let Glance { found, last, leftovers } = glance;
    let board = found.as_ref().map(|found| found.board.clone());
    let mut gathered = Gathered { board, found, ended: Vec::new(), missing: None, leftovers, last };
    if is_all {
        return Ok(gathered);
    }
    let known = LogAndCopy { folder, entries: Log::of(folder).entries()? };
    gathered.repair(&known)?;
    gathered.take_in(&known)?;
    gathered.end(&known);
    Ok(gathered)
}

/// What is seen first. Nearly always it is all that there is to see.
pub(crate) struct Glance {
    pub(crate) found: Option<StoredBoard>,
    last: Option<Entry>,
    leftovers: Vec<Leftover>,
}

impl Glance {
    pub(crate) fn gather(folder: &Folder) -> Result<Self, FederationError> {
        let found = match read(&folder.board())? {
            Content::Nothing => None,
            Content::Board(found) => Some(found),
            Content::Unreadable { bytes, why } => {
                return Err(unreadable(folder, &bytes, why));
            }
        };
        Ok(Self { found, last: Log::of(folder).last()?, leftovers: leftovers(folder)? })
    }

    /// Whether the file has all that the log has, and nothing else is there to look at.
    pub(crate) fn is_all(&self) -> bool {
        let board = self.found.as_ref().map(|found| &found.board);
        let is_whole = match (board, &self.last) {
            (Some(board), Some(last)) => board.session_id == last.session && board.rev >= last.rev,
            (Some(_) | None, None) => true,
            (None, Some(last)) => matches!(last.change, Change::Close { .. }),
        };
        is_whole && self.leftovers.is_empty() && !board.is_some_and(Board::is_closed)
    }
}

impl Gathered {
    /// Applies again what the file lacks.
    fn repair(&mut self, known: &LogAndCopy) -> Result<(), FederationError> {
        let Some(last) = &self.last else { return Ok(()) };
        match &mut self.board {
            Some(board) if board.session_id == last.session => known.lift(board),
            Some(board) if archive::find(known.folder, board)?.is_some() => {
                // An old session was written back over the present one.
                let mut old = board.clone();
                known.close(&mut old);
                self.ended.push(old);
                self.board = known.restore(&last.session);
            }
            Some(board) => {
                // Another program began a session.
                self.missing = Some((board.clone(), Change::Adopt));
                self.replace(known, &last.session.clone());
            }
            None => self.board = known.restore(&last.session),
        }
        Ok(())
    }

    /// The session that another one took the place of belongs into the history.
    fn replace(&mut self, known: &LogAndCopy, session: &str) {
        if let Some(mut old) = known.restore(session) {
            known.close(&mut old);
            self.ended.push(old);
        }
    }

    /// Takes in what other programs wrote in the instant in which a writer was killed.
    fn take_in(&mut self, known: &LogAndCopy) -> Result<(), FederationError> {
        for index in 0..self.leftovers.len() {
            let Some(mut theirs) = self.leftovers[index].board(known.folder)? else { continue };
            known.lift(&mut theirs);
            match &self.board {
                Some(ours) if ours.session_id == theirs.session_id => {
                    let base = known.copy(&theirs.session_id);
                    self.board = Some(merge(base.as_ref(), &theirs, ours, Sight::Stale));
                }
                _ if known.is_closed(&theirs.session_id)
                    || archive::find(known.folder, &theirs)?.is_some() =>
                {
                    known.close(&mut theirs);
                    self.ended.push(theirs);
                }
                _ => {
                    if let Some(mut ours) = self.board.take() {
                        known.close(&mut ours);
                        self.ended.push(ours);
                    }
                    self.missing = Some((theirs.clone(), Change::Adopt));
                    self.board = Some(theirs);
                }
            }
        }
        Ok(())
    }

    /// A closed board leaves its place.
    fn end(&mut self, known: &LogAndCopy) {
        let Some(closed) = self.board.take_if(|board| board.is_closed()) else { return };
        if !known.is_closed(&closed.session_id) {
            self.missing = Some((closed.clone(), Change::Close { because: "closed".to_owned() }));
        }
        self.ended.push(closed);
    }
}

/// The log, and the copy.
pub(crate) struct LogAndCopy<'a> {
    pub(crate) folder: &'a Folder,
    pub(crate) entries: Vec<Entry>,
}

impl LogAndCopy<'_> {
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
            let last = crate::task::Stamp::from(board.last_activity().unwrap_or_default());
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
    fn restore(&self, session: &str) -> Option<Board> {
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

/// Where a board came from that was put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// Our copy, with the operations of the log: the same session.
    Copy,
    /// The newest of the history, as a session of its own.
    History,
}

/// A good board, and where it comes from. One that cannot be read is put aside, never replaced, until an
/// agent asks for this one.
pub(crate) struct Good {
    pub(crate) board: Board,
    pub(crate) source: Source,
}

/// The error of a board that cannot be read. A copy of it is put aside.
pub(crate) fn unreadable(folder: &Folder, bytes: &[u8], why: String) -> FederationError {
    // What cannot be copied (a read-only folder) still lies where it is.
    let copy = read::keep(folder, bytes).ok();
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
    let known = LogAndCopy { folder, entries: Log::of(folder).entries()? };
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
