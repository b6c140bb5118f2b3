//! The snapshots of a session that count: the newest, and the one that a resume takes.
//!
//! One whose list of parts is damaged costs itself only: the one before it takes its place.

use baton_session::receipt::{ItemKind, ReceiptItem, Verified};
use baton_session::{Receipt, SessionId};
use baton_store::{Snapshot, Store, StoreError};

/// How many snapshots are looked through.
const LOOKED_THROUGH: u32 = 1000;

/// A snapshot that can be read, and why it is not a newer one.
#[derive(Debug)]
pub struct Latest {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// What is wrong with a newer one that cannot be read.
    pub damaged: Option<StoreError>,
    /// The newest one, when it is shrunk and this one is not.
    pub(crate) passed_over: Option<Snapshot>,
}

impl Latest {
    /// What there is to say of the newer ones that were left aside.
    pub fn asides(&self) -> Receipt {
        let mut receipt = Receipt::default();
        if let Some(newer) = &self.passed_over {
            receipt.push(aside(&self.snapshot, newer));
        }
        if let Some(StoreError::SnapshotCorrupt { id, why }) = &self.damaged {
            let why = format!("{why}; taken instead: the one of {}", self.snapshot.taken_at);
            receipt.push(ReceiptItem::rejected(ItemKind::Part, format!("snapshot {id}"), why));
        }
        receipt
    }
}

/// The newest snapshot of a session that can be read; none when it has no snapshot at all. Fails
/// with `SnapshotCorrupt` when none of them can be read.
pub(crate) async fn latest(store: &Store, id: SessionId) -> Result<Option<Latest>, StoreError> {
    let (snapshot, damaged) = match store.latest_snapshot(id).await {
        Ok(Some(snapshot)) => (snapshot, None),
        Ok(None) => return Ok(None),
        Err(error @ StoreError::SnapshotCorrupt { .. }) => {
            tracing::error!(session = %id, %error, "the newest snapshot is damaged");
            match newest(store, id, |_| true).await? {
                Some(snapshot) => (snapshot, Some(error)),
                None => return Err(error),
            }
        }
        Err(error) => return Err(error),
    };
    Ok(Some(Latest { snapshot, damaged, passed_over: None }))
}

/// The snapshot that a resume takes: the last good one that can be read, or the newest one when
/// none is good.
pub async fn last_good(store: &Store, id: SessionId) -> Result<Option<Latest>, StoreError> {
    let Some(found) = latest(store, id).await? else { return Ok(None) };
    if !found.snapshot.shrunk {
        return Ok(Some(found));
    }
    let (good, damaged) = match store.last_good_snapshot(id).await {
        Err(error @ StoreError::SnapshotCorrupt { .. }) => {
            tracing::error!(session = %id, %error, "the last good snapshot is damaged");
            (newest(store, id, |snapshot| !snapshot.shrunk).await?, Some(error))
        }
        good => (good?, None),
    };
    let damaged = damaged.or(found.damaged);
    Ok(Some(match good {
        Some(snapshot) => Latest { snapshot, damaged, passed_over: Some(found.snapshot) },
        None => Latest { damaged, ..found },
    }))
}

/// The newest snapshot that can be read and that is wanted, siblings aside.
async fn newest(
    store: &Store,
    id: SessionId,
    wanted: impl Fn(&Snapshot) -> bool,
) -> Result<Option<Snapshot>, StoreError> {
    let all = store.list_snapshots(id, None, LOOKED_THROUGH).await?;
    Ok(all.into_iter().find(|snapshot| !snapshot.sibling && wanted(snapshot)))
}

/// The line of a receipt that says why a newer snapshot was not taken.
fn aside(taken: &Snapshot, newer: &Snapshot) -> ReceiptItem {
    let reason = format!(
        "the one of {} has lost more than half of its cookies or storage, and nobody asked for that; \
         baton sessions rollback goes to it all the same",
        newer.taken_at
    );
    let place = format!("{} of {}", taken.id, taken.taken_at);
    ReceiptItem {
        reason: Some(reason),
        verified: Verified::None,
        ..ReceiptItem::restored(ItemKind::Snapshot, place)
    }
}
