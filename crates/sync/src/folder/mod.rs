//! Keeps the sync directory and the database in step: the directory is a projection of what is shared,
//! and an inbox for what others put there.
//!
//! The one idea: first everything is read that is new in the directory, then everything is written that
//! does not say there what the database says. What says the same already stays as it is, whoever wrote
//! it, so nodes that share one directory come to rest. The database is the truth: a file that is missing
//! deletes nothing.

mod failures;
mod inbox;
pub(super) mod known;
mod projection;
mod readers;

pub use known::FolderState;

use super::directory::{DirectoryError, SyncDirectory};
use super::error::SyncError;
use crate::context::Sync;
use baton_api::sync::DirectoryView;
use baton_runtime::Caller;
use baton_session::Owner;
use baton_store::blocking::blocking;
use std::time::Duration;
use tokio::time::sleep;

/// How often the directory is looked at. A network's file system tells of no changes, so it is asked.
const PAUSE: Duration = Duration::from_secs(1);

/// Begins to look at the directory, if there is one, until the node ends.
pub fn start(context: &Sync) {
    let Some(path) = &context.own.settings.directory else { return };
    let (context, directory) = (context.clone(), SyncDirectory::new(path));
    context.tasks.clone().spawn(async move {
        let look_and_wait = async || {
            note(&context, step(&context, &directory).await);
            sleep(PAUSE).await;
        };
        while context.ending.run_until_cancelled(Box::pin(look_and_wait())).await.is_some() {}
    });
}

/// How it stands with the directory, which is for the owner that the node runs as.
pub fn look(context: &Sync, caller: &Caller) -> DirectoryView {
    match &context.own.settings.directory {
        Some(path) if caller.owner == Owner::local() => context.own.folder.view(path),
        _ => DirectoryView::default(),
    }
}

/// Reads what is new, then writes what is.
async fn step(context: &Sync, directory: &SyncDirectory) -> Result<(), SyncError> {
    let owner = Owner::local();
    if context.own.folder.begins() {
        on_disk(directory, SyncDirectory::initialize).await?;
    }
    on_disk(directory, SyncDirectory::ensure_directories).await?;
    let read = inbox::read(context, &owner, directory).await;
    if read.as_ref().is_err_and(failures::concerns_all) {
        return read;
    }
    // What one file cannot tell keeps nothing from being written.
    projection::write(context, &owner, directory).await.and(read)
}

/// Notes how it went; what goes wrong again and again is logged once.
fn note(context: &Sync, stepped: Result<(), SyncError>) {
    let failed = stepped.err().map(|error| error.to_string());
    match (context.own.folder.failed(failed.clone()), failed) {
        (before, Some(error)) if before.as_ref() != Some(&error) => {
            tracing::warn!(error, "the sync directory is not as the database says");
        }
        (Some(_), None) => tracing::info!("the sync directory is in step again"),
        _ => {}
    }
}

/// Does something with the directory, away from the async threads.
async fn on_disk<T: Send + 'static>(
    directory: &SyncDirectory,
    work: impl FnOnce(&SyncDirectory) -> Result<T, DirectoryError> + Send + 'static,
) -> Result<T, SyncError> {
    let directory = directory.clone();
    let done = blocking(move || work(&directory)).await?;
    done.map_err(SyncError::from)
}
