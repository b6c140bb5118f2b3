//! Copies of a SQLite database, whole and consistent, while others read and write it.
//!
//! SQLite writes the copy itself, from one read transaction, so it holds what was committed when the
//! copy began and nothing later. A copy counts only under its final name: it is written beside,
//! synced and renamed.

use crate::blocking::blocking;
use crate::error::StoreError;
use crate::master_key::{create_private, sync_folder};
use jiff::Timestamp;
use sqlx::AnyConnection;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// How many copies from before a change of the schema are kept.
const KEPT: usize = 2;

/// What the name of a copy has while it is written; SQLite puts a journal of the same name beside it.
const DRAFT: &str = "part";

/// Writes all that `connection` sees into a new file, with mode 0600, and syncs it.
pub(crate) async fn write(connection: &mut AnyConnection, to: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::NoAccess { path: to.to_owned(), source };
    let name = to.to_str().ok_or_else(|| failed(io::Error::other("expected a path in UTF-8")))?;
    // SQLite takes an empty file for its own, and keeps its mode.
    create_private(to).map_err(failed)?;
    let written = sqlx::query("vacuum into $1").bind(name).execute(connection).await;
    written.map_err(|error| StoreError::from(error).at(name))?;
    sync(to)
}

/// Syncs a copy that was written, and its name.
pub(crate) fn sync(to: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::NoAccess { path: to.to_owned(), source };
    File::open(to).and_then(|file| file.sync_all()).and_then(|()| sync_folder(to)).map_err(failed)
}

/// Keeps a copy beside the database at `path`, which is at `version`. The caller holds SQLite's write lock,
/// so no other process does the same.
pub(crate) async fn keep(
    connection: &mut AnyConnection,
    path: &Path,
    version: i64,
) -> Result<PathBuf, StoreError> {
    let copy = path.with_added_extension(format!("v{version}-{}", stamp()));
    let draft = copy.with_added_extension(DRAFT);
    blocking({
        let path = path.to_owned();
        move || remove(&drafts(&path))
    })
    .await?;
    write(connection, &draft).await?;
    std::fs::rename(&draft, &copy)
        .and_then(|()| sync_folder(&copy))
        .map_err(|source| StoreError::NoAccess { path: copy.clone(), source })?;
    Ok(copy)
}

/// Removes all but the newest copies.
pub(crate) async fn prune(path: &Path) -> Result<(), StoreError> {
    let path = path.to_owned();
    let pruning = blocking(move || {
        let mut copies = beside(&path);
        copies.retain(|(_, end)| !end.contains(DRAFT));
        // Versions are numbers of any length, so the instant behind the first `-` decides.
        copies.sort_by(|(_, a), (_, b)| instant(b).cmp(instant(a)));
        let old: Vec<PathBuf> = copies.into_iter().skip(KEPT).map(|(copy, _)| copy).collect();
        remove(&old);
    });
    Ok(pruning.await?)
}

fn instant(end: &str) -> &str {
    end.split_once('-').map_or("", |(_, instant)| instant)
}

/// What a killed process left behind.
fn drafts(path: &Path) -> Vec<PathBuf> {
    let drafts = beside(path).into_iter().filter(|(_, end)| end.contains(DRAFT));
    drafts.map(|(draft, _)| draft).collect()
}

/// Files named like a copy of `path`, each with the end of its name.
fn beside(path: &Path) -> Vec<(PathBuf, String)> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten();
    let copies = entries.flatten().filter_map(|entry| {
        let found = entry.file_name();
        let end = found.to_str()?.strip_prefix(name)?.strip_prefix(".v")?;
        end.starts_with(|first: char| first.is_ascii_digit())
            .then(|| (entry.path(), end.to_owned()))
    });
    copies.collect()
}

/// One that cannot be removed costs room, nothing else.
fn remove(files: &[PathBuf]) {
    for file in files {
        if let Err(error) = std::fs::remove_file(file) {
            tracing::warn!(file = %file.display(), %error, "an old copy of the database stays");
        }
    }
}

/// The present to the millisecond, so that names sort as time does.
fn stamp() -> String {
    Timestamp::now().strftime("%Y%m%dT%H%M%S%3fZ").to_string()
}
