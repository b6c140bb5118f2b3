//! Putting a board in its place: what another program wrote in between is merged, or given way to.

use super::{Attempt, ROUNDS, Writer, touch};
use crate::board::Board;
use crate::error::{FederationError, Tried, WriteStep, before};
use crate::folder::{fetch, sync_folder};
use crate::gather::LogAndCopy;
use crate::merge::{Sight, merge};
use crate::operation::Entry;
use crate::read::{Content, StoredBoard, read, render};
use crate::swap::{Put, Slot};
use crate::task::Stamp;
use crate::{archive, read};

/// A board that was put in place.
#[derive(Clone)]
pub(super) struct Placed {
    pub(super) board: Board,
    pub(super) bytes: Vec<u8>,
    /// Whether another program's session took its place at once.
    pub(super) gave_way: bool,
}

impl Writer<'_> {
    /// Writes the board and the lines of the log: all of it, or nothing.
    pub(super) fn commit(
        &self,
        expected: Option<&StoredBoard>,
        board: Board,
        entries: &[Entry],
    ) -> Result<Placed, Attempt> {
        let bytes = render(&board)?;
        let slot = Slot::fill(self.folder, &bytes, (self.federation.random)())?;
        let forget = |error: FederationError| {
            if !error.is_a_kill() {
                slot.remove();
            }
            error
        };
        before(WriteStep::Log)?;
        let mark = match entries {
            [] => None,
            entries => Some(self.log.append(entries).map_err(forget)?),
        };
        before(WriteStep::Swap)?;
        let put = slot.swap(self.folder, expected.is_none()).map_err(|error| {
            slot.remove();
            if let Some(mark) = &mark {
                let _ = self.log.undo(mark);
            }
            if error.kind() == std::io::ErrorKind::AlreadyExists {
                Attempt::Overtaken
            } else {
                Attempt::Failed(FederationError::Io {
                    what: "replace",
                    path: self.folder.board(),
                    source: error,
                })
            }
        })?;
        // The operation is done: what fails from here on is left to the next writer.
        let ours = Placed { board, bytes, gave_way: false };
        let placed = match self.follow(put, slot, expected, ours.clone()) {
            Err(error) if error.is_a_kill() => return Err(error.into()),
            Err(_) => ours,
            Ok(placed) => placed,
        };
        // For those who only know the file: without it, they may find the older board when the power has
        // failed, whole, until a reader puts back what the log has.
        let _ = sync_folder(&self.folder.sessions());
        Ok(placed)
    }

    /// Looks at what was displaced. What another program had written in between is merged, until
    /// nothing is displaced but what we know.
    fn follow(
        &self,
        put: Put,
        mut slot: Slot,
        expected: Option<&StoredBoard>,
        mut ours: Placed,
    ) -> Result<Placed, FederationError> {
        let (Put::Exchanged, Some(expected)) = (put, expected) else { return Ok(ours) };
        let mut base = expected.clone();
        let mut merged = Vec::new();
        for _ in 0..ROUNDS {
            before(WriteStep::Look)?;
            let theirs = match read(&slot.0)? {
                Content::Board(displaced) if displaced.bytes != base.bytes => displaced,
                Content::Unreadable { bytes, .. } => {
                    read::keep(self.folder, &bytes)?;
                    slot.remove();
                    break;
                }
                _ => {
                    before(WriteStep::Keep)?;
                    let last = self.folder.last();
                    std::fs::rename(&slot.0, &last).tried("write", &last)?;
                    break;
                }
            };
            if theirs.board.session_id != ours.board.session_id {
                return self.give_way(&slot, &theirs, ours);
            }
            let known = LogAndCopy { folder: self.folder, entries: self.log.entries()? };
            let mut lifted = theirs.board;
            let sight = if lifted.rev < base.board.rev { Sight::Stale } else { Sight::Fresh };
            known.lift(&mut lifted);
            let mut next = merge(Some(&base.board), &lifted, &ours.board, sight);
            touch(&mut next, Some(&ours.board), self.now());
            let bytes = render(&next)?;
            merged.push(slot);
            slot = Slot::fill(self.folder, &bytes, (self.federation.random)())?;
            before(WriteStep::Swap)?;
            if slot.swap(self.folder, false).tried("replace", &self.folder.board())? == Put::New {
                break;
            }
            base = StoredBoard { bytes: ours.bytes, board: ours.board };
            ours = Placed { board: next, bytes, gave_way: false };
        }
        for slot in merged {
            slot.remove();
        }
        Ok(ours)
    }

    /// Another program began or brought back a session in the moment in which we wrote. An old one
    /// goes to the history; a new one takes its place, and ours, with what was just done, is archived.
    fn give_way(
        &self,
        slot: &Slot,
        theirs: &StoredBoard,
        ours: Placed,
    ) -> Result<Placed, FederationError> {
        if archive::find(self.folder, &theirs.board)?.is_some() {
            let mut old = theirs.board.clone();
            "closed".clone_into(&mut old.status);
            archive::write(self.folder, &old)?;
            slot.remove();
            return Ok(ours);
        }
        let mut ended = ours.board.clone();
        "closed".clone_into(&mut ended.status);
        ended.closed_at = Some(Stamp::from(self.now()));
        ended.closed_because = Some("replaced".to_owned());
        archive::write(self.folder, &ended)?;
        before(WriteStep::Swap)?;
        slot.swap(self.folder, false).tried("replace", &self.folder.board())?;
        if fetch(&slot.0).tried("read", &slot.0)?.as_ref() == Some(&ours.bytes) {
            slot.remove();
        }
        Ok(Placed { board: ended, gave_way: true, ..ours })
    }
}
