//! The newest snapshot of a session that can be read.
//!
//! One whose list of parts is damaged costs itself only: the one before it stands in.

use baton_session::SessionId;
use baton_store::{Snapshot, Store, StoreError};

/// How many snapshots are looked through.
const LOOKED_THROUGH: u32 = 1000;

/// The newest snapshot that can be read.
#[derive(Debug)]
pub(crate) struct Latest {
    pub(crate) snapshot: Snapshot,
    /// What is wrong with a newer one that cannot be read.
    pub(crate) damaged: Option<StoreError>,
}

/// The newest snapshot of a session that can be read; none when it has no snapshot at all. Fails
/// with `SnapshotCorrupt` when none of them can be read.
pub(crate) async fn latest(store: &Store, id: SessionId) -> Result<Option<Latest>, StoreError> {
    let error = match store.latest_snapshot(id).await {
        Err(error @ StoreError::SnapshotCorrupt { .. }) => error,
        found => return Ok(found?.map(|snapshot| Latest { snapshot, damaged: None })),
    };
    tracing::error!(session = %id, %error, "the newest snapshot is damaged");
    match store.list_snapshots(id, None, LOOKED_THROUGH).await?.into_iter().next() {
        Some(snapshot) => Ok(Some(Latest { snapshot, damaged: Some(error) })),
        None => Err(error),
    }
}
