//! Removes what sessions left on the disk that were deleted.
//!
//! The one idea: a folder is removed only when this database remembers that its session was deleted. A
//! session of which it knows nothing may be another database's that was used with this folder. So may a
//! browser that runs: what has a socket is left alone.

use super::forget::deleted;
use super::working::row;
use crate::context::Sync;
use crate::error::SyncError;
use baton_session::{Owner, SessionId};
use baton_store::blocking::blocking;
use baton_store::clock;
use baton_store::data::DataFolder;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// How long it waits for whoever changes the session.
const HOLD_LIMIT: Duration = Duration::from_secs(10);

/// Removes the profiles and files of sessions that were deleted, of every owner.
pub(super) async fn remove_remains(context: &Sync) -> Result<(), SyncError> {
    let data = context.hub.data().clone();
    let there = blocking(move || folders(&data)).await?;
    if there.is_empty() {
        return Ok(());
    }
    for (owner, session) in
        deleted(context, clock::now(), |session| there.contains(&session)).await?
    {
        match remove(context, &owner, session).await {
            Ok(true) => tracing::warn!(%session, "removed what a deleted session had left"),
            Ok(false) => {}
            Err(error) => tracing::warn!(%session, %error, "a deleted session's files stay"),
        }
    }
    Ok(())
}

/// Returns whether there was something to remove.
async fn remove(context: &Sync, owner: &Owner, session: SessionId) -> Result<bool, SyncError> {
    let hold = context.hold(session, "tidied up", HOLD_LIMIT).await?;
    let runs = context.hub.data().socket(session).exists();
    if runs || row(context, owner, session).await?.is_some() {
        return Ok(false);
    }
    context.hub.delete_files(&hold).await?;
    Ok(true)
}

/// The sessions that have a folder. Waits for the disk.
fn folders(data: &DataFolder) -> BTreeSet<SessionId> {
    let ids = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter_map(|name| name.parse().ok()).collect::<Vec<SessionId>>()
    };
    [data.sessions(), data.files()].iter().flat_map(|folder| ids(folder)).collect()
}
