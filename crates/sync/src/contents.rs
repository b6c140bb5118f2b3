//! What a snapshot holds, as a revision says it.

use super::at_hand::AtHand;
use super::error::SyncError;
use crate::context::Sync;
use baton_runtime::RuntimeError;
use baton_session::parts::{InvalidPart, Joining, Piece};
use baton_session::revision::PartList;
use baton_session::{Owner, Part, PartHash, PartRef, State, wire};
use baton_store::blocking::blocking;
use baton_store::{Snapshot, StoreError};

/// The parts of a snapshot that are shared, and the checksum of the state in them.
pub(super) struct Contents {
    pub(super) list: PartList,
    pub(super) checksum: PartHash,
}

/// What of a snapshot is shared: all but what is of this node alone, the note of what could not be read
/// and the icon.
pub(super) fn shared_parts(snapshot: &Snapshot) -> Vec<PartRef> {
    let parts = snapshot.parts.iter().filter(|part| !part.kind.is_of_one_node());
    parts.cloned().collect()
}

/// Reads what a snapshot holds. A part that is damaged is an error: what is published is whole.
pub(super) async fn of(
    context: &Sync,
    owner: &Owner,
    snapshot: &Snapshot,
) -> Result<Contents, SyncError> {
    let parts = shared_parts(snapshot);
    let state = state(context, owner, &parts).await?;
    let work =
        move || Contents { list: PartList::new(&parts), checksum: wire::checksum_of(&state) };
    Ok(blocking(work).await?)
}

/// The state in some parts.
pub(super) async fn state(
    context: &Sync,
    owner: &Owner,
    parts: &[PartRef],
) -> Result<State, SyncError> {
    state_of(context, owner, parts, &mut AtHand::nothing()).await
}

/// The same, where some of the parts may be at hand; the others are read from the disk.
pub(super) async fn state_of(
    context: &Sync,
    owner: &Owner,
    parts: &[PartRef],
    at_hand: &mut AtHand,
) -> Result<State, SyncError> {
    let of_state = parts.iter().filter(|part| !part.kind.is_picture());
    let wanted: Vec<(PartRef, Option<Piece>)> =
        of_state.map(|part| (part.clone(), at_hand.take(part))).collect();
    let lacking = wanted.iter().filter(|(_, piece)| piece.is_none());
    let lacking: Vec<PartRef> = lacking.map(|(part, _)| part.clone()).collect();
    let found = open(context, owner, &lacking).await?;
    let (state, invalid) = blocking(move || join(wanted, &found)).await?;
    match invalid.into_iter().next() {
        None => Ok(state),
        Some(part) => Err(SyncError::BadContent { why: part.to_string() }),
    }
}

async fn open(context: &Sync, owner: &Owner, parts: &[PartRef]) -> Result<Vec<Part>, SyncError> {
    // Opening is what takes time, so two halves are opened at once.
    let (first, second) = parts.split_at(parts.len() / 2);
    let halves = [first, second].map(|half| context.store.fetch_parts(owner, half));
    let halves = futures_util::future::try_join_all(halves).await?;
    Ok(halves.into_iter().flatten().collect::<Result<_, StoreError>>()?)
}

/// Puts a state together in the order of its list, of what was at hand and of what was found.
fn join(wanted: Vec<(PartRef, Option<Piece>)>, found: &[Part]) -> (State, Vec<InvalidPart>) {
    let (mut joining, mut found) = (Joining::default(), found.iter());
    for (part, piece) in wanted {
        match piece {
            Some(piece) => joining.add(&part.name, Ok(piece)),
            None => match found.next() {
                Some(found) => joining.add(&part.name, Piece::read(found)),
                // There is one for each that lacks a piece.
                None => break,
            },
        }
    }
    joining.finish()
}

/// Whether it says that something stored cannot be read.
pub(super) fn is_damage(error: &SyncError) -> bool {
    match error {
        SyncError::Runtime(RuntimeError::Store(error)) => is_unreadable(error),
        SyncError::BadContent { .. } => true,
        _ => false,
    }
}

/// Whether it is about what one revision holds.
pub(super) fn is_unreadable(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::SnapshotCorrupt { .. }
            | StoreError::PartMissing { .. }
            | StoreError::PartCorrupt { .. }
    )
}
