//! What changed at the sites of a session from one of its snapshots to another, without a value of either.

use super::show::read;
use crate::error::RuntimeError;
use crate::here::Runtime;
use baton_session::changed;
use baton_session::diff::{SiteDiff, diff};
use baton_session::receipt::ItemKind;
use baton_session::stored::no_script_reads;
use baton_session::{Session, SnapshotId, State, Unread};
use jiff::Timestamp;

/// What changed, by site and kind.
pub struct Changes {
    /// At which sites.
    pub at_sites: Vec<SiteDiff>,
    /// When the first cookie ends that is new, or not as it was; none when none of them has an end.
    pub ends_at: Option<Timestamp>,
    /// What of the later one is named in it, and not held: no script can read it.
    pub unreadable: Vec<Unread>,
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
    let ends_at = changed::first_end(&before, &after);
    Ok(Changes { at_sites, ends_at, unreadable: unreadable(&after) })
}

/// The databases with values that no script can read, such as a key that its site marked as not extractable, as
/// a receipt says it.
fn unreadable(state: &State) -> Vec<Unread> {
    let origins = state.origins.iter();
    let databases =
        origins.flat_map(|(key, origin)| origin.databases.iter().map(move |it| (key, it)));
    let found = databases.filter_map(|(key, database)| {
        let lost = Some(database.lost()).filter(|lost| *lost > 0)?;
        let place = key.place_of(&database.name);
        Some(Unread::lost(ItemKind::IndexedDb, place, no_script_reads(lost)))
    });
    found.collect()
}
