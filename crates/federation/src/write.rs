//! What a writer does while it holds the lock: settle what was left, decide, write, acknowledge.

mod place;

use crate::board::Board;
use crate::decide::{Decision, Moment, decide};
use crate::error::{FederationError, Refusal, Tried, WriteStep, before};
use crate::federation::Federation;
use crate::folder::{Folder, LARGEST, fetch, options, replace, sync_folder};
use crate::gather::{Gathered, Good, Source, gather};
use crate::log::Log;
use crate::operation::{Change, Entry, Operation};
use crate::read::{Content, StoredBoard, read, render};
use crate::swap::Slot;
use crate::task::{Stamp, Task};
use crate::{archive, gather, read};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

/// How often other programs may come in between before the rest is left to the next writer.
const ROUNDS: usize = 8;
/// Counters are kept below what every JSON reader keeps exact.
const MOST: u64 = (1 << 53) - 16;

/// What became of an operation that was done.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// The board with it; none when the session was archived.
    pub board: Option<Board>,
    /// The task that it was about, as it is now.
    pub task: Option<Task>,
    /// Where a session was archived on the way.
    pub archived: Option<PathBuf>,
    /// Why the log was not compacted afterwards, if it was not. The operation is done all the same; a log
    /// that is never compacted grows.
    pub not_compacted: Option<String>,
}

/// The one who holds the lock.
pub(crate) struct Writer<'a> {
    federation: &'a Federation,
    folder: &'a Folder,
    log: Log,
}

/// What is in place, and the last operation of the log.
struct Settled {
    found: Option<StoredBoard>,
    last: Option<Entry>,
    archived: Option<PathBuf>,
}

/// Why an attempt came to nothing.
enum Attempt {
    /// Another program made a board while we made the first one.
    Overtaken,
    Failed(FederationError),
}

impl From<FederationError> for Attempt {
    fn from(error: FederationError) -> Self {
        Self::Failed(error)
    }
}

impl From<Refusal> for Attempt {
    fn from(refusal: Refusal) -> Self {
        Self::Failed(refusal.into())
    }
}

impl<'a> Writer<'a> {
    pub(crate) fn of(federation: &'a Federation) -> Self {
        let folder = &federation.folder;
        Self { federation, folder, log: Log::of(folder) }
    }

    /// Does an operation.
    pub(crate) fn write(&self, operation: &Operation) -> Result<Done, FederationError> {
        for _ in 0..ROUNDS {
            match self.attempt(operation) {
                Ok(done) => return Ok(done),
                Err(Attempt::Overtaken) => {}
                Err(Attempt::Failed(error)) => return Err(error),
            }
        }
        Err(FederationError::Restless { path: self.folder.board() })
    }

    /// Settles what was left, and archives a session that rests for too long.
    pub(crate) fn tidy(&self) -> Result<Option<Board>, FederationError> {
        for _ in 0..ROUNDS {
            match self.settle() {
                Ok(settled) => return Ok(settled.found.map(|found| found.board)),
                Err(Attempt::Overtaken) => {}
                Err(Attempt::Failed(error)) => return Err(error),
            }
        }
        Err(FederationError::Restless { path: self.folder.board() })
    }

    fn attempt(&self, operation: &Operation) -> Result<Done, Attempt> {
        let settled = self.settle()?;
        let now = self.now();
        let mut random = self.federation.random;
        let gone_after = self.federation.options.gone_after;
        let mut moment = Moment { now, gone_after, random: &mut random };
        let by = operation.agent().map(ToString::to_string);
        let at = Stamp::from(now);
        let mut entries = Vec::new();
        let mut board = match &settled.found {
            Some(found) => found.board.clone(),
            None if operation.begins_a_session() => {
                let id = self.federation.new_session_id(now);
                let mut board = Board::new(&id, by.clone(), &at);
                if let Some(last) = &settled.last {
                    (board.rev, board.fence) = (last.rev, last.fence);
                }
                entries.push((None, Change::Begin { owner: by.clone() }));
                board
            }
            None => return Err(Refusal::NoSession.into()),
        };
        let Decision { change, task } = decide(operation, &board, &mut moment)?;
        entries.push((by.clone(), change));
        let entries = note(&mut board, &settled, entries, &at)?;
        let (board, archived) = if board.is_closed() {
            (None, Some(self.close(&board, settled.found.as_ref(), &entries)?))
        } else {
            touch(&mut board, settled.found.as_ref().map(|found| &found.board), now);
            (Some(self.commit(settled.found.as_ref(), board, &entries)?.board), settled.archived)
        };
        if let (Some(board), Some(by)) = (&board, &by) {
            write_own_state(self.folder, board, by)?;
        }
        // The operation itself is done, so this is no reason to refuse it.
        let compacted = self.log.compact(entries.last().map_or(0, |entry| entry.rev));
        let not_compacted = compacted.err().map(|error| error.to_string());
        let task = board.as_ref().zip(task).and_then(|(board, id)| board.task(&id).cloned());
        Ok(Done { board, task, archived, not_compacted })
    }

    /// Brings folder and board into order.
    fn settle(&self) -> Result<Settled, Attempt> {
        let mut gathered = gather(self.folder)?;
        let mut archived = None;
        for ended in &gathered.ended {
            archived = Some(archive::write(self.folder, ended)?);
        }
        let mut last = gathered.last.take();
        if !gathered.is_settled() {
            last = self.put_right(&mut gathered, last)?;
        }
        for leftover in &gathered.leftovers {
            let _ = std::fs::remove_file(&leftover.path);
        }
        let mut settled = Settled { found: gathered.found, last, archived };
        let stale = settled.found.as_ref().filter(|found| self.federation.is_stale(&found.board));
        if let Some(found) = stale {
            let mut board = found.board.clone();
            let because = "inactive".to_owned();
            let at = Stamp::from(self.now());
            let entries = note(&mut board, &settled, vec![(None, Change::Close { because })], &at)?;
            settled.archived = Some(self.close(&board, Some(found), &entries)?);
            settled.found = None;
            settled.last = entries.into_iter().next_back();
        }
        Ok(settled)
    }

    /// Writes what was gathered: what the log lacks, and the board.
    fn put_right(
        &self,
        gathered: &mut Gathered,
        last: Option<Entry>,
    ) -> Result<Option<Entry>, Attempt> {
        let mut settled = Settled { found: gathered.found.take(), last, archived: None };
        let mut entries = Vec::new();
        if let Some((mut board, change)) = gathered.missing.take() {
            let is_end = matches!(change, Change::Close { .. });
            entries = note(&mut board, &settled, vec![(None, change)], &Stamp::from(self.now()))?;
            if !is_end {
                gathered.board = Some(board);
            }
            settled.last = entries.last().cloned();
        }
        match gathered.board.take() {
            None => {
                if !entries.is_empty() {
                    self.log.append(&entries)?;
                }
                if let Some(found) = &settled.found {
                    self.remove(found)?;
                }
            }
            Some(board) if settled.found.as_ref().is_some_and(|found| found.board == board) => {
                gathered.found = settled.found.take();
            }
            Some(mut board) => {
                touch(&mut board, settled.found.as_ref().map(|found| &found.board), self.now());
                let placed = self.commit(settled.found.as_ref(), board, &entries)?;
                if placed.gave_way {
                    return Err(Attempt::Overtaken);
                }
                gathered.found = Some(StoredBoard { bytes: placed.bytes, board: placed.board });
            }
        }
        Ok(settled.last)
    }

    /// Ends a session: the log says so, the history has it, its file goes.
    fn close(
        &self,
        board: &Board,
        found: Option<&StoredBoard>,
        entries: &[Entry],
    ) -> Result<PathBuf, FederationError> {
        before(WriteStep::Log)?;
        let mark = self.log.append(entries)?;
        let archived = archive::write(self.folder, board).inspect_err(|error| {
            if !error.is_a_kill() {
                let _ = self.log.undo(&mark);
            }
        })?;
        if let Some(found) = found {
            self.remove(found)?;
        }
        Ok(archived)
    }

    /// Takes the file of a closed session away. What another program wrote into it in this moment
    /// goes to the history.
    fn remove(&self, found: &StoredBoard) -> Result<(), FederationError> {
        before(WriteStep::Remove)?;
        let place = self.folder.board();
        let aside = self.folder.sessions().join(".active-session.closed.kept");
        match std::fs::rename(&place, &aside) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            other => other.tried("move", &place)?,
        }
        before(WriteStep::Look)?;
        if let Content::Board(displaced) = read(&aside)?
            && displaced.bytes != found.bytes
        {
            // The next one who looks takes it in, as what a killed writer left.
            return Ok(());
        }
        std::fs::remove_file(&aside).tried("remove", &aside)?;
        sync_folder(&self.folder.sessions()).tried("sync", &self.folder.sessions())
    }

    /// Puts the last good board in the place of one that cannot be read.
    pub(crate) fn recover(&self) -> Result<(Board, Source), FederationError> {
        let place = self.folder.board();
        let Content::Unreadable { bytes, .. } = read(&place)? else {
            return Err(FederationError::NotDamaged { path: place });
        };
        read::keep(self.folder, &bytes)?;
        let Some(Good { mut board, source }) = gather::find(self.folder)? else {
            return Err(FederationError::NothingToRecover { path: self.folder.root().to_owned() });
        };
        let now = self.now();
        if source == Source::History {
            board.session_id = self.federation.new_session_id(now);
            board.created_at = Some(Stamp::from(now));
            "active".clone_into(&mut board.status);
            (board.closed_at, board.closed_because) = (None, None);
        }
        let settled = Settled { found: None, last: self.log.last()?, archived: None };
        let entries = note(&mut board, &settled, vec![(None, Change::Adopt)], &Stamp::from(now))?;
        touch(&mut board, None, now);
        let text = render(&board)?;
        // The copy first: from here on it is what a second recovery would find.
        replace(&self.folder.last(), &text).tried("write", &self.folder.last())?;
        let slot = Slot::fill(self.folder, &text, (self.federation.random)())?;
        let mark = self.log.append(&entries).inspect_err(|_| slot.remove())?;
        slot.swap(self.folder, false).tried("replace", &place).inspect_err(|_| {
            slot.remove();
            let _ = self.log.undo(&mark);
        })?;
        // What came in the place of the damaged board meanwhile is left to the next writer.
        if fetch(&slot.0).tried("read", &slot.0)?.as_ref() == Some(&bytes) {
            slot.remove();
        }
        Ok((board, source))
    }

    /// The clock, in microseconds as in the file.
    fn now(&self) -> Timestamp {
        let now = (self.federation.clock)();
        Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }
}

/// The board was written: later than before, whatever the clock says.
fn touch(board: &mut Board, before: Option<&Board>, now: Timestamp) {
    let stamps = [before.and_then(|before| before.updated_at.as_ref()), board.updated_at.as_ref()];
    let latest = stamps.into_iter().flatten().filter_map(Stamp::instant).max();
    let next = latest.and_then(|latest| latest.checked_add(SignedDuration::from_micros(1)).ok());
    board.updated_at = Some(Stamp::from(next.map_or(now, |next| next.max(now))));
}

/// Applies changes to the board, as lines of the log.
fn note(
    board: &mut Board,
    settled: &Settled,
    changes: Vec<(Option<String>, Change)>,
    at: &Stamp,
) -> Result<Vec<Entry>, FederationError> {
    let mut rev = settled.last.as_ref().map_or(0, |last| last.rev).max(board.rev);
    let mut fence = settled.last.as_ref().map_or(0, |last| last.fence).max(board.fence);
    let session = board.session_id.clone();
    let mut entries = Vec::with_capacity(changes.len());
    for (by, change) in changes {
        rev += 1;
        if let Change::Claim { number, .. } = &change {
            fence = fence.max(*number);
        }
        if let Some((what, found)) =
            [("rev", rev), ("fence", fence)].into_iter().find(|(_, found)| *found > MOST)
        {
            return Err(FederationError::UsedUp { what, most: MOST, found });
        }
        let (session, at) = (session.clone(), at.clone());
        let before = change.needs().and_then(|id| board.task(id)).cloned().map(Box::new);
        let entry = Entry { rev, session, at, fence, by, before, change };
        entry.apply(board);
        entries.push(entry);
    }
    Ok(entries)
}

/// Writes `agents/{agent}-state.json`, whole or not at all: what an agent that acted needs to know of itself.
/// It follows from the board and can be made anew, so nothing waits for it and nothing fails with it. Fields
/// of others in it stay.
fn write_own_state(folder: &Folder, board: &Board, agent: &str) -> Result<(), FederationError> {
    before(WriteStep::Own)?;
    let path = folder.own_state(agent);
    let Some(mut state) = there(&path) else { return Ok(()) };
    let Some(entry) = board.agents.get(agent) else { return Ok(()) };
    if let Ok(Value::Object(fields)) = serde_json::to_value(entry) {
        state.extend(fields);
    }
    let held = board.tasks.iter().filter(|task| task.holder() == Some(agent));
    state.insert("agent".to_owned(), json!(agent));
    state.insert("session_id".to_owned(), json!(board.session_id));
    state.insert("rev".to_owned(), json!(board.rev));
    state.insert("claims".to_owned(), held.map(claim).collect());
    let Ok(text) = serde_json::to_vec_pretty(&state) else { return Ok(()) };
    if text.len() < LARGEST {
        let draft = path.with_added_extension("draft");
        let open = options().write(true).create(true).truncate(true).open(&draft);
        let written = open.and_then(|mut file| file.write_all(&text));
        if written.and_then(|()| fs::rename(&draft, &path)).is_err() {
            let _ = fs::remove_file(&draft);
        }
    }
    Ok(())
}

/// What the file holds; none when it is no object of JSON, which another program wrote and which stays.
fn there(path: &std::path::Path) -> Option<Map<String, Value>> {
    match fetch(path).ok()? {
        Some(bytes) => serde_json::from_slice(&bytes).ok(),
        None => Some(Map::new()),
    }
}

fn claim(task: &Task) -> Value {
    let claim = task.claim.as_ref();
    json!({
        "task": task.id,
        "description": task.description,
        "status": task.status,
        "fence": task.fence(),
        "since": claim.map(|claim| &claim.since),
        "lease_seconds": claim.map(|claim| claim.lease_seconds),
    })
}
