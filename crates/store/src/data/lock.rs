//! The lock of a data folder: one node at a time. The system frees it when the node dies.

use super::DataFolder;
use super::error::DataError;
use super::node_file::NodeFile;
use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;

/// Held for as long as the node lives.
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
