//! The files of a session: its folder with profile and log.

use super::close::Ending;
use super::error::LiveError;
use super::{BrowserSupervisor, expect_checked_in};
use crate::table::Hold;
use baton_browser::launch::Folder;
use baton_session::{Owner, Session, SessionId};
use baton_store::blocking::blocking;
use baton_store::data::write_private;
use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// The profile of this session and its other files are gone from the disk. What removes the row of a session
/// asks for it: when the node dies in between, the row is still there to be deleted again, and no cookies are
/// left behind.
#[derive(Debug)]
pub struct FilesGone(SessionId);

impl FilesGone {
    /// Whose files they were.
    pub fn session(&self) -> SessionId {
        self.0
    }
}

impl BrowserSupervisor {
    /// Makes the session's folder, which only its user may enter.
    pub(super) fn create_files(&self, id: SessionId) -> Result<(), LiveError> {
        let folder = self.config().data.session(id);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(LiveError::file(folder))
    }

    /// Notes which folders of the machine the browser of a session sees beside its own.
    pub(super) fn note_folders(&self, id: SessionId, folders: &[Folder]) -> Result<(), LiveError> {
        let path = self.config().data.folders_of(id);
        let text = serde_json::to_vec(folders).map_err(io::Error::from);
        let text = text.map_err(LiveError::file(path.clone()))?;
        Ok(write_private(&path, &text)?)
    }

    /// Which folders of the machine the browser of a session sees beside its own: those of the settings
    /// and those that it was opened with, and only if it is the owner's for whom the node runs.
    pub(super) fn folders(&self, session: &Session) -> Result<Vec<Folder>, LiveError> {
        if session.owner != Owner::local() {
            return Ok(Vec::new());
        }
        let config = self.config();
        let path = config.data.folders_of(session.id);
        let mut folders: Vec<Folder> = match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map_err(|error| LiveError::file(path)(error.into()))?,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(LiveError::file(path)(error)),
        };
        folders.extend(config.folders.iter().cloned());
        // Looked at each time: a link may lead elsewhere by now.
        folders.iter().try_for_each(|folder| config.data.expect_apart(&folder.path))?;
        Ok(folders)
    }

    /// Removes the session's folder with its profile. A session that is watched is refused, and so is one
    /// whose profile a browser of others holds.
    pub async fn delete_files(&self, hold: &Hold) -> Result<FilesGone, LiveError> {
        expect_checked_in(hold)?;
        let id = hold.id();
        if self.runner(id).is_ok() {
            return Err(LiveError::AlreadyActive(id));
        }
        self.end_keeper(id, Ending::Kill).await;
        self.wait_for_profile(id).await?;
        let data = self.config().data.clone();
        self.blocking(move || {
            remove(&data.session(id))?;
            remove(&data.files_of(id))?;
            remove(&data.socket(id))
        })
        .await?;
        Ok(FilesGone(id))
    }

    /// Runs what waits for the disk off the async threads.
    pub(super) async fn blocking<T, E>(
        &self,
        work: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> Result<T, LiveError>
    where
        T: Send + 'static,
        E: Into<LiveError> + Send + 'static,
    {
        blocking(work).await?.map_err(Into::into)
    }
}

/// Removes a folder with all that is in it, or a file; one that is gone is no error.
fn remove(path: &Path) -> Result<(), LiveError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(LiveError::file(path)(error)),
        _ => Ok(()),
    }
}
