//! The files of a session: its folder with profile and log.

use super::ending::Ending;
use super::{Hub, LiveError};
use baton_session::SessionId;
use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

impl Hub {
    /// Makes the session's folder, which only its user may enter.
    pub(super) fn create_files(&self, id: SessionId) -> Result<(), LiveError> {
        let folder = self.config().data.session(id);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(LiveError::file(folder))
    }

    /// Removes the session's folder with its profile. A session that is watched is refused, and so
    /// is one whose profile somebody else's browser holds.
    pub async fn delete_files(&self, id: SessionId) -> Result<(), LiveError> {
        let _taken = self.take(id, "deleted").await?;
        if self.runner(id).is_ok() {
            return Err(LiveError::AlreadyActive(id));
        }
        self.end_keeper(id, Ending::Kill).await;
        self.wait_for_profile(id).await?;
        let data = self.config().data.clone();
        self.blocking(move || remove(&data.session(id)).and_then(|()| remove(&data.socket(id))))
            .await
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
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|_| LiveError::Stopping)?
            .map_err(Into::into)
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
