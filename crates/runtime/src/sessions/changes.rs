//! What changed at the sites of a session from one of its snapshots to another, without a value of either.

use super::show::read;
use crate::error::RuntimeError;
use crate::here::Runtime;
use baton_session::changed;
use baton_session::diff::{SiteDiff, diff};
use baton_session::{Session, SnapshotId};
use jiff::Timestamp;

/// What changed, by site and kind.
pub struct Changes {
    /// At which sites.
    pub at_sites: Vec<SiteDiff>,
    /// When the first cookie ends that is new, or not as it was; none when none of them has an end.
    pub ends_at: Option<Timestamp>,
}

/// What changed from the snapshot `from` to the snapshot `to`.
pub async fn changes(
    context: &Runtime,
    session: &Session,
    from: SnapshotId,
    to: SnapshotId,
) -> Result<Changes, RuntimeError> {
    let snapshot = async |id: SnapshotId| {
        let found = context.store.find_snapshot(session.id, &id.to_string()).await?;
        read(context, &session.owner, &found).await
    };
    let ((before, _), (after, _)) = (snapshot(from).await?, snapshot(to).await?);
    let at_sites = changed::at_sites(&diff(&before, &after));
    Ok(Changes { at_sites, ends_at: changed::first_end(&before, &after) })
}
