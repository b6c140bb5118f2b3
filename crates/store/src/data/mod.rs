//! The data folder of a node: one folder holds everything, readable by its user only.
//!
//! A user who can read the folder can open every session in it, so a folder that others can write to is
//! refused, and everything inside is made private from its first byte on. One node at a time works in it: the
//! lock says so, and its file says where that node is.

mod error;
pub mod named;

pub use error::{DataError, FileError};

use crate::master_key::{KeyError, MasterKey};
use baton_session::{NodeId, SessionId};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use url::Url;

/// The longest path of a data folder, in bytes: what `sockaddr_un` holds on Linux without the final
/// NUL, less `/run/`, a session's id and `.sock`.
const PATH_LIMIT: usize = 107 - 5 - 36 - 5;

/// Where a node keeps its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFolder(PathBuf);

impl DataFolder {
    /// Names the folder; touches nothing. A relative path is taken from the current folder.
    pub fn at(path: &Path) -> Result<Self, DataError> {
        let path = std::path::absolute(path)
            .map_err(|source| DataError::Io { path: path.to_owned(), source })?;
        let found = path.as_os_str().as_bytes().len();
        if found > PATH_LIMIT {
            return Err(DataError::PathTooLong { path, limit: PATH_LIMIT, found });
        }
        Ok(Self(path))
    }

    /// Makes the folder when it is missing (0700), and checks that no other user can write to it. In one of
    /// another user nothing is made.
    pub fn create(&self) -> Result<(), DataError> {
        if self.0.exists() {
            self.check()?;
        }
        for folder in [self.0.clone(), self.run(), self.sessions(), self.files()] {
            std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&folder)
                .map_err(|source| DataError::Io { path: folder, source })?;
        }
        self.check()
    }

    /// Checks that the folder is one, that no other user can write to it, and that all in it which this user
    /// trusts is theirs, or of who administers the machine.
    pub fn check(&self) -> Result<(), DataError> {
        let path = || self.0.clone();
        let found =
            std::fs::metadata(&self.0).map_err(|source| DataError::Io { path: path(), source })?;
        let mode = found.permissions().mode() & 0o777;
        if !found.is_dir() {
            Err(DataError::NotAFolder { path: path() })
        } else if mode & 0o022 != 0 {
            Err(DataError::TooOpen { path: path(), mode, owner: found.uid() })
        } else {
            self.check_owners(&found)
        }
    }

    fn check_owners(&self, found: &Metadata) -> Result<(), DataError> {
        let expected = rustix::process::geteuid().as_raw();
        let check = |path: &Path, owner: u32, is_trusted: bool| {
            if is_trusted {
                return Ok(());
            }
            let (path, folder) = (path.to_owned(), self.0.clone());
            Err(DataError::OtherOwner { path, folder, expected, owner })
        };
        check(&self.0, found.uid(), found.uid() == expected)?;
        for path in self.trusted() {
            // A link leads to what counts, and who put it there may let it lead elsewhere tomorrow.
            let looks = [std::fs::symlink_metadata(&path), std::fs::metadata(&path)];
            for found in looks.into_iter().flatten() {
                check(&path, found.uid(), [expected, 0].contains(&found.uid()))?;
            }
        }
        Ok(())
    }

    /// What is believed, or opened, because it lies in the folder.
    fn trusted(&self) -> Vec<PathBuf> {
        let ends = ["", "-wal", "-shm"];
        let database = ends.map(|end| {
            let mut path = self.database().into_os_string();
            path.push(end);
            PathBuf::from(path)
        });
        let sockets = std::fs::read_dir(self.run()).into_iter().flatten().flatten();
        [self.key(), self.admin_key(), self.debug_key(), self.settings(), self.id_file()]
            .into_iter()
            .chain([self.node_file(), self.node_log(), self.lock(), self.start_lock()])
            .chain([self.page_file(), self.page_door()])
            .chain([
                self.run(),
                self.sessions(),
                self.sandboxes(),
                self.arriving(),
                self.exchange(),
            ])
            .chain(database)
            .chain(sockets.map(|entry| entry.path()))
            .collect()
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The SQLite database.
    pub fn database(&self) -> PathBuf {
        self.0.join("baton.db")
    }

    /// The master key that opens the database's key.
    pub fn key(&self) -> PathBuf {
        self.0.join("key")
    }

    /// The secret that signs what opens debug tabs.
    pub fn debug_key(&self) -> PathBuf {
        self.0.join("debug.key")
    }

    /// The settings file that is read when none is named.
    pub fn settings(&self) -> PathBuf {
        self.0.join("baton.toml")
    }

    /// Where the running node is: see [`NodeFile`].
    pub fn node_file(&self) -> PathBuf {
        self.0.join("node.json")
    }

    /// The log of a node that a command started.
    pub fn node_log(&self) -> PathBuf {
        self.0.join("node.log")
    }

    /// The lock that the running node holds.
    pub fn lock(&self) -> PathBuf {
        self.0.join("node.lock")
    }

    /// The lock of commands that want to start a node.
    pub fn start_lock(&self) -> PathBuf {
        self.0.join("start.lock")
    }

    /// The local admin key.
    pub fn admin_key(&self) -> PathBuf {
        self.0.join("admin.key")
    }

    /// Who is signed in to the node's page: hashes alone.
    pub fn page_file(&self) -> PathBuf {
        self.0.join("page.json")
    }

    /// What leads a browser to the node's page, with a code that counts once.
    pub fn page_door(&self) -> PathBuf {
        self.0.join("dashboard.html")
    }

    /// The folder of the keepers' sockets.
    pub fn run(&self) -> PathBuf {
        self.0.join("run")
    }

    /// The socket of a session's keeper.
    pub fn socket(&self, id: SessionId) -> PathBuf {
        self.run().join(format!("{id}.sock"))
    }

    /// The folder of the sessions' folders.
    pub fn sessions(&self) -> PathBuf {
        self.0.join("sessions")
    }

    /// The sessions that have a folder here, the oldest first.
    pub fn session_folders(&self) -> Vec<SessionId> {
        let entries = std::fs::read_dir(self.sessions()).into_iter().flatten().flatten();
        let mut found: Vec<SessionId> =
            entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        found.sort_unstable();
        found
    }

    /// The folder of a session.
    pub fn session(&self, id: SessionId) -> PathBuf {
        self.sessions().join(id.to_string())
    }

    /// The browser profile of a session.
    pub fn profile(&self, id: SessionId) -> PathBuf {
        self.session(id).join("profile")
    }

    /// The log of a session's keeper and browser.
    pub fn keeper_log(&self, id: SessionId) -> PathBuf {
        self.session(id).join("keeper.log")
    }

    /// The folder of the sessions' own files.
    pub fn files(&self) -> PathBuf {
        self.0.join("files")
    }

    /// The files of a session that its browser uploads from and downloads to.
    pub fn files_of(&self, id: SessionId) -> PathBuf {
        self.files().join(id.to_string())
    }

    /// Which folders of the machine the browser of a session sees.
    pub fn folders_of(&self, id: SessionId) -> PathBuf {
        self.session(id).join("folders.json")
    }

    /// Checks that a folder to be shown is not this one, or a part of it.
    pub fn expect_apart(&self, folder: &Path) -> Result<(), DataError> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let (ours, theirs) = (real(&self.0), real(folder));
        if ours.starts_with(&theirs) || theirs.starts_with(&ours) {
            return Err(DataError::HoldsData { folder: folder.to_owned(), data: self.0.clone() });
        }
        Ok(())
    }

    /// The folder in which profiles are made before they go into sandboxes.
    pub fn sandboxes(&self) -> PathBuf {
        self.0.join("sandboxes")
    }

    /// What comes ahead of sessions that are on their way here from other nodes.
    pub fn arriving(&self) -> PathBuf {
        self.0.join("arriving")
    }

    /// What came ahead of a session.
    pub fn arriving_of(&self, id: SessionId) -> PathBuf {
        self.arriving().join(id.to_string())
    }

    /// The folder of the files that tools of models write and read.
    pub fn exchange(&self) -> PathBuf {
        self.0.join("exchange")
    }

    /// The file that says which node this folder belongs to.
    pub fn id_file(&self) -> PathBuf {
        self.0.join("node.id")
    }

    /// Which node this folder belongs to; none before its first start.
    pub fn node_id(&self) -> Result<Option<NodeId>, DataError> {
        let path = self.id_file();
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let id = text.trim().parse();
                id.map(Some).map_err(|source| DataError::NotANodeId { path, source })
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(DataError::Io { path, source }),
        }
    }

    /// Notes which node this folder belongs to.
    pub fn write_node_id(&self, id: NodeId) -> Result<(), DataError> {
        write_private(&self.id_file(), format!("{id}\n").as_bytes())
    }

    /// Where this folder is, so that it differs from a copy of itself: host, path and the number of the lock
    /// file.
    pub fn place(&self) -> Result<String, DataError> {
        let lock = self.lock();
        let number =
            std::fs::metadata(&lock).map_err(|source| DataError::Io { path: lock, source })?.ino();
        let folder = self.0.canonicalize();
        let folder = folder.map_err(|source| DataError::Io { path: self.0.clone(), source })?;
        let host = rustix::system::uname();
        let host = host.nodename().to_string_lossy();
        Ok(format!("{host}:{} ({number})", folder.display()))
    }
}

impl DataFolder {
    /// The master key: `text`, in base64, when it does not come from the folder, or else what is in its
    /// file. None is made.
    pub fn master_key(&self, text: Option<&SecretString>) -> Result<MasterKey, KeyError> {
        match text {
            Some(text) => MasterKey::from_base64(text.expose_secret()),
            None => MasterKey::load(&self.key()),
        }
    }
}

/// Replaces the file at `path` (0600): temporary file, fsync, rename, fsync of the folder. So a crash leaves the
/// old one or the new one, never half of one.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
    replace(path, bytes).map_err(|source| DataError::Io { path: path.to_owned(), source })
}

fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    // A bare name has no folder in it; and both names have to lead through the same mounts.
    let path = std::path::absolute(path)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    // A temporary file is made with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

/// `node.json`: written when the node is ready, removed when it ends as it should. After a crash
/// it is left behind, so a reader asks the address before it believes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFile {
    /// Where the node listens; written as it is typed, without a slash at its end.
    #[serde(serialize_with = "bare")]
    pub url: Url,
    /// Its process.
    pub pid: u32,
    /// Which node it is.
    pub node_id: NodeId,
}

/// An address to which a path can be added.
fn bare<S: serde::Serializer>(url: &Url, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(url.as_str().trim_end_matches('/'))
}

impl NodeFile {
    /// What the data folder says; `None` when it says nothing.
    pub fn read(data: &DataFolder) -> Result<Option<Self>, DataError> {
        let path = data.node_file();
        match std::fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|source| DataError::NotANodeFile { path, source }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(DataError::Io { path, source }),
        }
    }

    /// Writes it.
    pub fn publish(&self, data: &DataFolder) -> Result<(), DataError> {
        let path = data.node_file();
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|source| DataError::NotANodeFile { path: path.clone(), source })?;
        bytes.push(b'\n');
        write_private(&path, &bytes)
    }

    /// Removes it; one that is gone already is no error.
    pub fn remove(data: &DataFolder) -> Result<(), DataError> {
        let path = data.node_file();
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                Err(DataError::Io { path, source })
            }
            _ => Ok(()),
        }
    }
}

/// The lock of a data folder, held for as long as the node lives: the system frees it when the node dies.
#[derive(Debug)]
pub struct NodeLock(
    #[expect(dead_code, reason = "the lock lasts as long as the file is open")] File,
);

impl NodeLock {
    /// Takes the lock, or says who holds it.
    pub fn acquire(data: &DataFolder) -> Result<Self, DataError> {
        let path = data.lock();
        let io = |source| DataError::Io { path: path.clone(), source };
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(io)?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(DataError::Locked {
                path: data.path().to_owned(),
                running: NodeFile::read(data).ok().flatten().map(Box::new),
            }),
            Err(TryLockError::Error(source)) => Err(io(source)),
        }
    }
}
