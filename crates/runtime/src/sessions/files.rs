//! The files of a session: what its browser uploads and what it downloaded.
//!
//! The one idea: a browser sees one folder of the machine, and here files go in and come out. The
//! browser writes there by itself, so nothing that lies there is trusted: names are checked, and only
//! plain files count.

use super::transfer::FILE_LIMIT;
use crate::error::RuntimeError;
use crate::folder::{LARGEST, MOST, checked, list_plain_files, on_disk, put};
use crate::here::Runtime;
use crate::life::Wish;
use crate::request::Caller;
use baton_api::{SessionFile, SessionFiles};
use baton_session::Session;
use baton_store::data::{FileError, named};
use bytes::Bytes;
use futures_util::Stream;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

// What a request carries is put there whole.
const _: () = assert!(LARGEST == FILE_LIMIT as u64);

/// A file that is read.
pub struct OpenedFile {
    /// It.
    pub file: File,
    /// How many bytes it has.
    pub bytes: u64,
}

/// The files of a session, by their names.
pub async fn list(
    context: &Runtime,
    caller: &Caller,
    reference: &str,
) -> Result<SessionFiles, RuntimeError> {
    let session = context.find(&caller.owner, reference).await?;
    let folder = folder(context, &session)?;
    Ok(SessionFiles { items: on_disk(&folder, |folder| list_plain_files(folder, MOST)).await? })
}

/// Opens a file of a session.
pub(super) async fn get(wish: &Wish<'_>, name: &str) -> Result<OpenedFile, RuntimeError> {
    let (folder, name) = (folder(wish.context, &wish.session)?, checked(name)?);
    let wanted = name.clone();
    let opened = on_disk(&folder, move |folder| {
        let file = named::open_plain(folder, &wanted)?;
        Ok(OpenedFile { bytes: file.metadata()?.len(), file })
    });
    opened.await.map_err(|error| not_there(error, name).into())
}

/// Puts a file among those of a session, whole or not at all, in the place of one of that name, and tells who
/// follows the session.
pub(super) async fn write_file<E: std::fmt::Display>(
    wish: &Wish<'_>,
    name: &str,
    bytes: impl Stream<Item = Result<Bytes, E>>,
) -> Result<SessionFile, RuntimeError> {
    let (folder, name) = (folder(wish.context, &wish.session)?, checked(name)?);
    let file = put(&folder, name, bytes).await?;
    wish.context.store.tell(wish.session.id);
    Ok(file)
}

/// Removes a file of a session, and tells who follows the session.
pub(super) async fn remove(wish: &Wish<'_>, name: &str) -> Result<(), RuntimeError> {
    let (folder, name) = (folder(wish.context, &wish.session)?, checked(name)?);
    let wanted = name.clone();
    let removed = on_disk(&folder, move |folder| named::remove(folder, &wanted));
    removed.await.map_err(|error| not_there(error, name))?;
    wish.context.store.tell(wish.session.id);
    Ok(())
}

fn folder(context: &Runtime, session: &Session) -> Result<PathBuf, RuntimeError> {
    if session.node != context.node {
        return Err(RuntimeError::OtherNode { name: session.name.clone(), node: session.node });
    }
    Ok(context.supervisor.data().files_of(session.id))
}

fn is_not_there(error: &io::Error) -> bool {
    let is_link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    is_link
        || matches!(
            error.kind(),
            ErrorKind::NotFound | ErrorKind::IsADirectory | ErrorKind::InvalidInput
        )
}

/// That a file is not there, or is none, is no fault of the disk.
fn not_there(error: FileError, name: String) -> FileError {
    match error {
        FileError::Disk { source, .. } if is_not_there(&source) => FileError::NotFound { name },
        error => error,
    }
}
