//! The Unix socket of a keeper: 0600, in a folder that only its user may enter.

use super::error::KeeperError;
use super::protocol::KeeperSecret;
use std::fs::{DirBuilder, Permissions};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream as Probe;
use std::path::{Path, PathBuf};
use std::{fs, io};
use tokio::net::UnixListener;

/// What `sockaddr_un` holds on Linux, without the final NUL.
const PATH_LIMIT: usize = 107;

/// A listening socket; its file is removed when this is dropped, unless another one is there by then: of a
/// keeper that came when the file had been removed.
pub(super) struct ListeningSocket {
    path: PathBuf,
    is: Identity,
    secret: KeeperSecret,
}

/// Which file it is: device and number.
type Identity = (u64, u64);

impl ListeningSocket {
    /// Listens at `path`. A file that a dead keeper left behind is replaced, a living one refused.
    pub(super) fn bind(path: &Path) -> Result<(Self, UnixListener), KeeperError> {
        check_length(path)?;
        if let Some(folder) = path.parent() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder)
                .map_err(KeeperError::file("create", folder))?;
        }
        remove_stale(path)?;
        // Before anybody can knock.
        let secret = KeeperSecret::create(path)?;
        let listener = UnixListener::bind(path).map_err(KeeperError::file("bind", path))?;
        fs::set_permissions(path, Permissions::from_mode(0o600))
            .map_err(KeeperError::file("protect", path))?;
        let is = identity(path).map_err(KeeperError::file("look at", path))?;
        Ok((Self { path: path.to_owned(), is, secret }, listener))
    }

    /// By what its clients know it.
    pub(super) fn secret(&self) -> KeeperSecret {
        self.secret.clone()
    }
}

impl Drop for ListeningSocket {
    fn drop(&mut self) {
        if identity(&self.path).is_ok_and(|found| found != self.is) {
            return;
        }
        self.secret.remove(&self.path);
        if let Err(error) = fs::remove_file(&self.path)
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!(path = %self.path.display(), %error, "a socket was not removed");
        }
    }
}

fn identity(path: &Path) -> io::Result<Identity> {
    fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

/// Refuses a path that the system cannot hold, with a clear error instead of `EINVAL`.
pub(super) fn check_length(path: &Path) -> Result<(), KeeperError> {
    let found = path.as_os_str().as_bytes().len();
    if found <= PATH_LIMIT {
        return Ok(());
    }
    Err(KeeperError::PathTooLong { socket: path.to_owned(), limit: PATH_LIMIT, found })
}

/// Whether a failed connection means that no keeper listens.
pub(super) fn nobody_listens(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused)
}

fn remove_stale(path: &Path) -> Result<(), KeeperError> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(KeeperError::file("look at", path)(error)),
        Ok(found) if !found.file_type().is_socket() => {
            return Err(KeeperError::NotUnderstood {
                expected: "a socket or nothing at the keeper's path",
                found: format!("another file: {}", path.display()),
            });
        }
        Ok(_) => {}
    }
    match Probe::connect(path) {
        Ok(_) => Err(KeeperError::AlreadyRunning { socket: path.to_owned() }),
        Err(error) if nobody_listens(&error) => {
            fs::remove_file(path).map_err(KeeperError::file("replace", path))
        }
        Err(error) => Err(KeeperError::file("probe", path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::ListeningSocket;
    use std::fs;

    #[tokio::test]
    async fn the_socket_of_another_keeper_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keeper.sock");
        let (first, _listener) = ListeningSocket::bind(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let (second, _other) = ListeningSocket::bind(&path).unwrap();
        drop(first);
        assert!(path.exists(), "the socket of the second one is gone");
        drop(second);
        assert!(!path.exists());
    }
}
