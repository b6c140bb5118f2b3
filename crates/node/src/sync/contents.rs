//! What a snapshot holds, as a revision says it.

use super::SyncError;
use crate::live::LiveError;
use crate::{Context, NodeError};
use baton_session::revision::PartList;
use baton_session::{Owner, Part, PartHash, PartKind, PartRef, State, parts, wire};
use baton_store::{Snapshot, StoreError};

/// The parts of a snapshot that are shared, and the checksum of the state in them.
pub(super) struct Contents {
    pub(super) list: PartList,
    pub(super) checksum: PartHash,
}

/// What of a snapshot is shared: all but what this node alone can use, the note of what could not be
/// read.
pub(super) fn shared_parts(snapshot: &Snapshot) -> Vec<PartRef> {
    let parts = snapshot.parts.iter().filter(|part| part.kind != PartKind::Unread);
    parts.cloned().collect()
}

/// Reads what a snapshot holds. A part that is damaged is an error: what is published is whole.
pub(super) async fn of(
    context: &Context,
    owner: &Owner,
    snapshot: &Snapshot,
) -> Result<Contents, NodeError> {
    let parts = shared_parts(snapshot);
    let state = state(context, owner, &parts).await?;
    let work =
        move || Contents { list: PartList::new(&parts), checksum: wire::checksum_of(&state) };
    blocking(work).await
}

/// The state in some parts.
pub(super) async fn state(
    context: &Context,
    owner: &Owner,
    parts: &[PartRef],
) -> Result<State, NodeError> {
    let of_state: Vec<PartRef> =
        parts.iter().filter(|part| part.kind != PartKind::Preview).cloned().collect();
    // Opening is what takes time, so two halves are opened at once.
    let (first, second) = of_state.split_at(of_state.len() / 2);
    let halves = [first, second].map(|half| context.store.fetch_parts(owner, half));
    let halves = futures_util::future::try_join_all(halves).await?;
    let found: Vec<Part> = halves.into_iter().flatten().collect::<Result<_, StoreError>>()?;
    let (state, invalid) = blocking(move || parts::join(&found)).await?;
    match invalid.into_iter().next() {
        None => Ok(state),
        Some(part) => Err(SyncError::BadContent { why: part.to_string() }.into()),
    }
}

/// Runs what takes the processor for long off the async threads.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NodeError> {
    Ok(tokio::task::spawn_blocking(work).await.map_err(|_| LiveError::Stopping)?)
}
