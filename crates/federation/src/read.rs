//! Reading the board's file, which others may be writing at this moment.
//!
//! The one idea: a program that writes in place is seen half-way, so what cannot be read is read
//! again for a short while before it counts as unreadable. A copy of that is kept beside the board, for a
//! person to look at.

use crate::board::Board;
use crate::error::{FederationError, Tried};
use crate::folder::{Folder, fetch, replace};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a half-written file may take to become whole.
const PATIENCE: Duration = Duration::from_millis(500);
const STEP: Duration = Duration::from_millis(5);

/// A board as it is in a file.
#[derive(Debug, Clone)]
pub(crate) struct StoredBoard {
    pub(crate) bytes: Vec<u8>,
    pub(crate) board: Board,
}

/// What a file holds.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub(crate) enum Content {
    /// There is none.
    Nothing,
    /// A board.
    Board(StoredBoard),
    /// Something else, and why it is none.
    Unreadable { bytes: Vec<u8>, why: String },
}

/// What the file holds now, or a moment later.
pub(crate) fn read(path: &Path) -> Result<Content, FederationError> {
    let end = Instant::now() + PATIENCE;
    loop {
        let Some(bytes) = fetch(path).tried("read", path)? else { return Ok(Content::Nothing) };
        match parse(&bytes) {
            Ok(board) => return Ok(Content::Board(StoredBoard { bytes, board })),
            Err(why) if Instant::now() >= end => return Ok(Content::Unreadable { bytes, why }),
            Err(_) => sleep(STEP),
        }
    }
}

/// The board of these bytes, or what they are instead, with line and column.
pub(crate) fn parse(bytes: &[u8]) -> Result<Board, String> {
    // Some editors and shells put a mark before a text in UTF-8.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(match bytes.len() {
            0 => "it is empty".to_owned(),
            count => format!("its {count} bytes are blank"),
        });
    }
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}

/// The bytes of a board: JSON for people, two spaces deep.
pub(crate) fn render(board: &Board) -> Result<Vec<u8>, FederationError> {
    let mut bytes = serde_json::to_vec_pretty(board)
        .map_err(std::io::Error::from)
        .tried("write the board as JSON, in", Path::new("memory"))?;
    bytes.push(b'\n');
    if bytes.len() > crate::folder::LARGEST {
        Err(FederationError::TooLarge { most: crate::folder::LARGEST, found: bytes.len() })
    } else {
        Ok(bytes)
    }
}

/// How many copies of what cannot be read are kept.
const MOST: usize = 16;

/// Keeps a copy of these bytes, which cannot be read; the same bytes are kept once.
pub(crate) fn keep(folder: &Folder, bytes: &[u8]) -> Result<PathBuf, FederationError> {
    let name = Sha256::digest(bytes).iter().take(6).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    let path = folder.sessions().join(format!("unreadable-{name}.json"));
    if !path.exists() {
        replace(&path, bytes).tried("write", &path)?;
        prune(folder);
    }
    Ok(path)
}

/// The oldest copies go when there are too many.
fn prune(folder: &Folder) {
    let Ok(entries) = fs::read_dir(folder.sessions()) else { return };
    let copies = entries.flatten().filter(|entry| {
        entry.file_name().to_str().is_some_and(|name| name.starts_with("unreadable-"))
    });
    let mut copies: Vec<_> = copies
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    copies.sort();
    let surplus = copies.len().saturating_sub(MOST);
    for (_, path) in copies.into_iter().take(surplus) {
        let _ = fs::remove_file(path);
    }
}
