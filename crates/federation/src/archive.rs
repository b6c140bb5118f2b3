//! Sessions that ended: `history/2026-02-06T10-00-00Z.json`, named by their beginning, one file each.

use crate::board::Board;
use crate::error::{FederationError, Tried, WriteStep, before};
use crate::folder::{Folder, replace};
use crate::merge::{Sight, merge};
use crate::read::{Content, parse, read, render};
use crate::task::Stamp;
use std::path::PathBuf;
use std::{fs, io};

/// A session in the history.
#[derive(Debug, Clone, PartialEq)]
pub struct Archived {
    /// By which it is asked for: the name of its file without the ending.
    pub name: String,
    /// The board as it was at the end.
    pub board: Board,
}

/// Writes a session to the history. One that is there already is brought up to date, so a session
/// that comes back is never there twice.
pub(crate) fn write(folder: &Folder, board: &Board) -> Result<PathBuf, FederationError> {
    before(WriteStep::Archive)?;
    let (path, there) = place(folder, board)?;
    let merged = match &there {
        Some(there) if there.rev >= board.rev => merge(None, board, there, Sight::Stale),
        Some(there) => merge(None, there, board, Sight::Stale),
        None => board.clone(),
    };
    if there.as_ref() != Some(&merged) {
        replace(&path, &render(&merged)?).tried("write", &path)?;
    }
    Ok(path)
}

/// The session's file in the history, if it has one.
pub(crate) fn find(folder: &Folder, board: &Board) -> Result<Option<Board>, FederationError> {
    Ok(place(folder, board)?.1)
}

/// Where the session's file is or would be. Two that began in one second have two names.
fn place(folder: &Folder, board: &Board) -> Result<(PathBuf, Option<Board>), FederationError> {
    let plain = |text: &str| -> String {
        let fits = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        text.chars().map(|c| if fits(c) { c } else { '-' }).take(64).collect()
    };
    let began = board.created_at.as_ref().and_then(Stamp::instant);
    let id = plain(&board.session_id);
    let first = began.map(|began| began.strftime("%Y-%m-%dT%H-%M-%SZ").to_string());
    let second = first.as_ref().map(|first| format!("{first}-{id}"));
    let names = [first, second, Some(format!("session-{id}"))];
    let mut free = None;
    for name in names.into_iter().flatten() {
        let path = folder.history().join(format!("{name}.json"));
        match read_quietly(&path)? {
            Some(Ok(there)) if there.session_id == board.session_id => {
                return Ok((path, Some(there)));
            }
            None if free.is_none() => free = Some(path),
            _ => {}
        }
    }
    let path = free.unwrap_or_else(|| folder.history().join(format!("session-{id}-again.json")));
    Ok((path, None))
}

/// A file of the history; what cannot be read is left alone.
fn read_quietly(path: &std::path::Path) -> Result<Option<Result<Board, String>>, FederationError> {
    Ok(crate::folder::fetch(path).tried("read", path)?.map(|bytes| parse(&bytes)))
}

/// The newest sessions of the history, newest first. Files that are none are passed over.
pub(crate) fn list(folder: &Folder, most: usize) -> Result<Vec<Archived>, FederationError> {
    let history = folder.history();
    let entries = match fs::read_dir(&history) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).tried("read", &history),
    };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(".json")?.to_owned())).collect();
    names.sort_by(|one, other| other.cmp(one));
    let sessions = names.into_iter().filter_map(|name| {
        let board = read_quietly(&history.join(format!("{name}.json"))).ok()??.ok()?;
        Some(Archived { name, board })
    });
    Ok(sessions.take(most).collect())
}

/// One session of the history, by the name of its file or by its id.
pub(crate) fn fetch(folder: &Folder, name: &str) -> Result<Archived, FederationError> {
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    let path = folder.history().join(format!("{}.json", name.trim_end_matches(".json")));
    if is_name && let Content::Board(found) = read(&path)? {
        return Ok(Archived {
            name: name.trim_end_matches(".json").to_owned(),
            board: found.board,
        });
    }
    let all = list(folder, usize::MAX)?;
    let found = all.into_iter().find(|archived| archived.board.session_id == name);
    found.ok_or_else(|| FederationError::NoHistory { found: name.chars().take(80).collect() })
}
