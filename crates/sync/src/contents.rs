//! What a snapshot holds, as a revision says it, read from the disk or at hand already.
//!
//! The one idea: a part that was unpacked, checked and written a moment ago need not be read back from
//! the disk for its content to be looked at. What is at hand belongs to one pull of one session, so to
//! one owner and one peer, and ends with it. It is bounded, and what is not in it is read from the disk
//! as ever; so nothing depends on it but time.

use crate::context::Sync;
use crate::error::SyncError;
use baton_runtime::RuntimeError;
use baton_session::parts::{InvalidPart, Piece, StateBuilder};
use baton_session::revision::PartList;
use baton_session::{Owner, Part, PartHash, PartKind, PartRef, State, wire};
use baton_store::blocking::blocking;
use baton_store::{Snapshot, StoreError};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
        of_state.map(|part| (part.clone(), at_hand.remove(part))).collect();
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
    let (mut joining, mut found) = (StateBuilder::default(), found.iter());
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

/// The most bytes of parts that are at hand: those of a session of a usual size.
const MOST: u64 = 128 << 20;

/// Parts that were checked and are on disk, read.
#[derive(Debug)]
pub(super) struct AtHand {
    /// By all of a part but its name: that a peer gives to any bytes that it likes.
    pieces: HashMap<(PartKind, PartHash, u64), Piece>,
    /// How many bytes more there may be, those that are being read left out.
    room: Arc<AtomicU64>,
}

impl AtHand {
    /// Nothing, and nothing is kept: everything is read from the disk.
    pub(super) fn nothing() -> Self {
        Self::with_room(0)
    }

    /// For one pull. A node that takes small parts only has room for two of the largest.
    pub(super) fn of(context: &Sync) -> Self {
        Self::with_room(context.store.limits().part_bytes.saturating_mul(2).min(MOST))
    }

    fn with_room(bytes: u64) -> Self {
        Self { pieces: HashMap::new(), room: Arc::new(AtomicU64::new(bytes)) }
    }

    /// What reads a part, as long as there is room. One that cannot be read is not kept either: the reader
    /// from the disk hears why.
    pub(super) fn reader(&self) -> impl Fn(&Part) -> Option<Piece> + Clone + Send + use<> {
        let room = Arc::clone(&self.room);
        move |part| {
            if part.kind.is_picture() {
                return None;
            }
            let size = part.bytes.len() as u64;
            let less = |left: u64| left.checked_sub(size);
            room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).ok()?;
            Piece::read(part).ok()
        }
    }

    /// Keeps what the reader made of a part, which is on disk by now.
    pub(super) fn insert(&mut self, part: &PartRef, piece: Piece) {
        if self.pieces.insert(key(part), piece).is_some() {
            self.give_back(part);
        }
    }

    /// Hands out what a part holds: once, for it is a copy of what is on disk.
    pub(super) fn remove(&mut self, part: &PartRef) -> Option<Piece> {
        let piece = self.pieces.remove(&key(part))?;
        self.give_back(part);
        Some(piece)
    }

    fn give_back(&self, part: &PartRef) {
        self.room.fetch_add(part.size, Ordering::Relaxed);
    }
}

fn key(part: &PartRef) -> (PartKind, PartHash, u64) {
    (part.kind, part.hash, part.size)
}

#[cfg(test)]
mod tests {
    use super::AtHand;
    use baton_session::{Part, PartKind, PartRef};

    fn part(bytes: &str) -> Part {
        let name = "https://shop.test/".to_owned();
        Part { kind: PartKind::LocalStorage, name, bytes: bytes.into() }
    }

    /// Whether there was room for it.
    fn bring(at_hand: &mut AtHand, part: &Part) -> bool {
        let read = at_hand.reader()(part);
        read.is_some_and(|piece| {
            at_hand.insert(&part.reference(), piece);
            true
        })
    }

    #[test]
    fn what_exceeds_the_bound_is_not_kept_and_there_is_room_again_for_what_was_used() {
        let (small, large) = (part(r#"[["a","b"]]"#), part(r#"[["a","bcdefghijk"]]"#));
        let mut at_hand = AtHand::with_room(large.bytes.len() as u64);
        assert!(bring(&mut at_hand, &small));
        assert!(!bring(&mut at_hand, &large), "both are too much");
        assert!(at_hand.remove(&large.reference()).is_none());
        assert!(at_hand.remove(&small.reference()).is_some());
        assert!(at_hand.remove(&small.reference()).is_none(), "it is used once");
        assert!(bring(&mut at_hand, &large));
        assert!(at_hand.remove(&large.reference()).is_some());
        assert!(bring(&mut at_hand, &large), "what was used takes no room");
        assert!(!bring(&mut AtHand::nothing(), &small));
    }

    #[test]
    fn what_comes_twice_takes_room_once() {
        let part = part(r#"[["a","b"]]"#);
        let mut at_hand = AtHand::with_room(2 * part.bytes.len() as u64);
        for _ in 0..5 {
            assert!(bring(&mut at_hand, &part));
        }
    }

    #[test]
    fn a_part_is_at_hand_as_what_it_was_checked_to_be_and_as_nothing_else() {
        let part = part(r#"[["a","b"]]"#);
        let mut at_hand = AtHand::with_room(1000);
        assert!(bring(&mut at_hand, &part));
        let said = part.reference();
        let others = [
            PartRef { kind: PartKind::Files, ..said.clone() },
            PartRef { size: said.size + 1, ..said.clone() },
            PartRef { hash: super::PartHash::of(b"another"), ..said.clone() },
        ];
        for other in others {
            assert!(at_hand.remove(&other).is_none(), "{other:?}");
        }
        let elsewhere = PartRef { name: "https://bank.test/".into(), ..said };
        assert!(at_hand.remove(&elsewhere).is_some(), "the same bytes in another place");
    }

    #[test]
    fn a_part_that_cannot_be_read_and_a_picture_are_left_to_the_disk() {
        let mut at_hand = AtHand::with_room(1000);
        assert!(!bring(&mut at_hand, &part("no list")));
        for kind in [PartKind::Preview, PartKind::Icon] {
            assert!(!bring(&mut at_hand, &Part { kind, ..part("PNG") }));
        }
    }
}
