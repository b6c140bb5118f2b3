//! What is at hand of a session that is pulled: parts that have just come, read already.
//!
//! The one idea: a part that was unpacked, checked and written a moment ago need not be read back from
//! the disk for its content to be looked at. What is at hand belongs to one pull of one session, so to
//! one owner and one peer, and ends with it. It is bounded, and what is not in it is read from the disk
//! as ever; so nothing depends on it but time.

use crate::context::Sync;
use baton_session::parts::Piece;
use baton_session::{Part, PartHash, PartKind, PartRef};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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

    /// What reads a part, as long as there is room. One that cannot be read is not kept either: who
    /// reads it from the disk is told why.
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
    pub(super) fn put(&mut self, part: &PartRef, piece: Piece) {
        if self.pieces.insert(key(part), piece).is_some() {
            self.give_back(part);
        }
    }

    /// Hands out what a part holds: once, for it is a copy of what is on disk.
    pub(super) fn take(&mut self, part: &PartRef) -> Option<Piece> {
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
            at_hand.put(&part.reference(), piece);
            true
        })
    }

    #[test]
    fn what_exceeds_the_bound_is_not_kept_and_there_is_room_again_for_what_was_used() {
        let (small, large) = (part(r#"[["a","b"]]"#), part(r#"[["a","bcdefghijk"]]"#));
        let mut at_hand = AtHand::with_room(large.bytes.len() as u64);
        assert!(bring(&mut at_hand, &small));
        assert!(!bring(&mut at_hand, &large), "both are too much");
        assert!(at_hand.take(&large.reference()).is_none());
        assert!(at_hand.take(&small.reference()).is_some());
        assert!(at_hand.take(&small.reference()).is_none(), "it is used once");
        assert!(bring(&mut at_hand, &large));
        assert!(at_hand.take(&large.reference()).is_some());
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
            assert!(at_hand.take(&other).is_none(), "{other:?}");
        }
        let elsewhere = PartRef { name: "https://bank.test/".into(), ..said };
        assert!(at_hand.take(&elsewhere).is_some(), "the same bytes in another place");
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
