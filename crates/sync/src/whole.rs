//! Which snapshot of a session becomes a revision.
//!
//! The one idea: what is published is whole. Where parts of the last good snapshot are damaged, the one that
//! a resume would take stands in, if that is whole; but never one from before the last revision, which would
//! take every node back behind what it has.

use super::contents::is_damage;
use super::error::SyncError;
use super::publish::{Saved, Titles, Wanted, publish};
use super::shelf::Shelf;
use crate::context::Sync;
use baton_runtime::RuntimeError;
use baton_runtime::latest::{Latest, last_good};
use baton_runtime::live::Loaded;
use baton_session::{Lifecycle, Receipt, Session, SnapshotId};
use baton_store::StoreError;

/// How many older snapshots are looked through.
const LOOKED_THROUGH: u32 = 1000;

/// What became a revision.
pub(super) struct Published {
    pub(super) saved: Saved,
    /// The snapshot that holds it.
    pub(super) snapshot: SnapshotId,
    /// Which newer ones were left aside, and why.
    pub(super) asides: Receipt,
}

/// Makes a revision of the last good snapshot of a session, or of what stands in for it. A browser that runs
/// has what is damaged, and is captured anew. Fails with `NothingWhole` when no snapshot since the last
/// revision is whole. The caller holds the session.
pub(super) async fn publish_whole(
    context: &Sync,
    session: &Session,
    titles: &Titles,
    wanted: Wanted,
) -> Result<Published, SyncError> {
    let damage = match publish_newest(context, session, titles, wanted).await {
        Err(error) if is_damage(&error) => error,
        published => return published,
    };
    if session.lifecycle == Lifecycle::Active {
        context.hub.capture_anew(session.id).await?;
        return publish_newest(context, session, titles, wanted).await;
    }
    let loaded = Box::pin(context.hub.load_last_good(session)).await?;
    let Loaded { snapshot, receipt: asides, is_whole, is_newest, .. } = loaded;
    if is_newest && is_whole {
        // Something else is damaged, such as a revision that this one is compared with.
        return Err(damage);
    }
    if !is_whole || is_behind(context, session, snapshot).await? {
        return Err(nothing_whole(session, &damage));
    }
    let snapshot = context.store.fetch_snapshot(&session.owner, snapshot).await?;
    let saved = publish(context, session, &snapshot, titles, wanted).await?;
    Ok(Published { saved, snapshot: snapshot.id, asides })
}

/// The same of the newest one of which the list of parts can be read.
async fn publish_newest(
    context: &Sync,
    session: &Session,
    titles: &Titles,
    wanted: Wanted,
) -> Result<Published, SyncError> {
    let Some(found) = last_good(&context.store, session.id).await? else {
        let name = session.name.clone();
        return Err(RuntimeError::NoSnapshot { name, expected: "a snapshot" }.into());
    };
    let asides = found.asides();
    let Latest { snapshot, damaged, .. } = found;
    if let Some(damage) = damaged
        && is_behind(context, session, snapshot.id).await?
    {
        return Err(nothing_whole(session, &damage.into()));
    }
    let saved = publish(context, session, &snapshot, titles, wanted).await?;
    Ok(Published { saved, snapshot: snapshot.id, asides })
}

/// Whether a snapshot was stored before the one that holds the last revision of the session here.
async fn is_behind(
    context: &Sync,
    session: &Session,
    snapshot: SnapshotId,
) -> Result<bool, SyncError> {
    let shelf = Shelf::take(context, &session.owner, session.id).await?;
    let Some(base) = shelf.shared.base.map(|base| base.snapshot) else { return Ok(false) };
    if base == snapshot {
        return Ok(false);
    }
    let older = context.store.list_history(session.id, Some(snapshot), LOOKED_THROUGH).await?;
    let mut ids = older.iter().filter_map(|found| match found {
        Ok(found) => Some(found.id),
        Err(StoreError::SnapshotCorrupt { id, .. }) => Some(*id),
        Err(_) => None,
    });
    Ok(!ids.any(|id| id == base))
}

fn nothing_whole(session: &Session, damage: &SyncError) -> SyncError {
    let why = damage.to_string();
    let why = why.lines().next().unwrap_or_default().to_owned();
    SyncError::NothingWhole { name: session.name.clone(), why }
}
