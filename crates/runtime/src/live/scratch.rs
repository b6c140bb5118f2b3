//! Folders of what is of use to one node only, as long as it runs: what the last node left in one is ended and
//! removed before the next one begins.

use super::BrowserSupervisor;
use super::offstage::SOCKET;
use baton_store::blocking::blocking;
use baton_store::data::DataError;
use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long browsers whose keepers were killed may take to end, and to write no more.
const END_LIMIT: Duration = Duration::from_secs(10);
/// How often the folder is looked at meanwhile.
const PAUSE: Duration = Duration::from_millis(20);
/// How far below the folder a browser of no session lies: in one of its own, or in one of its session's.
const DEPTH: usize = 2;

impl BrowserSupervisor {
    /// Makes such a folder anew. Of a node that was killed a browser of no session may still be there: it is ended, and
    /// what it writes until then is removed with the rest. What somebody writes even after that stays, and is removed
    /// by the next node: this one does without.
    pub async fn empty(&self, folder: PathBuf) -> Result<PathBuf, DataError> {
        let failed = |source| DataError::Io { path: folder.clone(), source };
        let within = folder.clone();
        // Nothing is there to be found when the node is ending already.
        let left = blocking(move || sockets(&within, DEPTH)).await.unwrap_or_default();
        for socket in left {
            match self.config().keepers.force(&socket).await {
                Ok(true) => {
                    tracing::info!(socket = %socket.display(), "ended a browser of the last node");
                }
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "a browser of the last node was not ended"),
            }
        }
        let end = Instant::now() + END_LIMIT;
        while let Err(error) = fs::remove_dir_all(&folder) {
            match error.kind() {
                ErrorKind::NotFound => break,
                ErrorKind::DirectoryNotEmpty if Instant::now() < end => sleep(PAUSE).await,
                ErrorKind::DirectoryNotEmpty => {
                    let path = folder.display();
                    tracing::warn!(%path, "somebody writes to what the last node left: it stays");
                    return Ok(folder);
                }
                _ => return Err(failed(error)),
            }
        }
        DirBuilder::new().mode(0o700).create(&folder).map_err(failed)?;
        Ok(folder)
    }
}

/// Where keepers of browsers of no session listen, or listened. What cannot be read is in the way of removing it, too,
/// and told there.
fn sockets(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        // Of the entry itself: nobody is ended for a link that leads to them.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_socket() && entry.file_name() == SOCKET {
            found.push(entry.path());
        } else if kind.is_dir() && depth > 0 {
            found.extend(sockets(&entry.path(), depth - 1));
        }
    }
    found
}
