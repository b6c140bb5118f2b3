//! What cannot be read is kept beside the board, for a person to look at.

use crate::error::FederationError;
use crate::error::Tried;
use crate::folder::{Folder, replace};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

/// How many such copies are kept.
const MOST: usize = 16;

/// Keeps a copy of these bytes; the same bytes are kept once.
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
