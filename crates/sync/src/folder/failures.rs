//! What went wrong with single sessions or files, while the others went on.
//!
//! The one idea: what is wrong with one is told, and stops nothing; what is wrong with the directory or
//! the database would be wrong with each that follows, and ends the pass.

use crate::directory::DirectoryError;
use crate::error::SyncError;
use baton_runtime::RuntimeError;
use baton_runtime::live::LiveError;
use baton_store::StoreError;
use std::fmt::Display;
use std::io::{self, ErrorKind};

/// What went wrong in one pass.
#[derive(Debug, Default)]
pub(super) struct Failures(Option<SyncError>);

impl Failures {
    /// Notes how it went with one. Returns what is wrong with all.
    pub(super) fn note(
        &mut self,
        what: &impl Display,
        done: Result<(), SyncError>,
    ) -> Result<(), SyncError> {
        let Err(error) = done else { return Ok(()) };
        if concerns_all(&error) {
            return Err(error);
        }
        tracing::debug!(%what, %error, "one was passed over in the sync directory");
        self.0.get_or_insert(error);
        Ok(())
    }

    /// The first that went wrong.
    pub(super) fn first(self) -> Result<(), SyncError> {
        self.0.map_or(Ok(()), Err)
    }
}

/// Whether the next one would fail in the same way.
pub(super) fn concerns_all(error: &SyncError) -> bool {
    match error {
        SyncError::Runtime(RuntimeError::Live(LiveError::Stopping)) => true,
        SyncError::Directory(error) => match error {
            DirectoryError::Locked { .. } => true,
            DirectoryError::Io { source, .. } => is_of_the_system(source),
            _ => false,
        },
        SyncError::Runtime(RuntimeError::Store(error)) => matches!(
            error,
            StoreError::Unreachable { .. }
                | StoreError::Busy { .. }
                | StoreError::DiskFull { .. }
                | StoreError::NoAccess { .. }
                | StoreError::ReadOnly { .. }
                | StoreError::Interrupted
        ),
        _ => false,
    }
}

/// Files are put there by a rename, so what may not be written is the folder.
fn is_of_the_system(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull
            | ErrorKind::QuotaExceeded
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::PermissionDenied
            | ErrorKind::StaleNetworkFileHandle
            | ErrorKind::NotConnected
            | ErrorKind::TimedOut
    )
}
