//! Loads the state of a snapshot. Damage costs itself only, and is named.

use super::Hub;
use super::error::LiveError;
use crate::latest::{self, Latest};
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{
    Holdings, Owner, Part, PartKind, PartRef, Receipt, Session, SessionId, SnapshotId, State, Term,
    Unread, parts,
};
use baton_store::blocking::blocking;
use baton_store::{Snapshot, StoreError};
use jiff::Timestamp;
use std::time::Instant;

/// What a snapshot holds, as far as it can be read.
#[derive(Debug)]
pub struct Loaded {
    /// When it began to be loaded.
    pub(super) began: Instant,
    /// Which one.
    pub snapshot: SnapshotId,
    /// When it was taken.
    pub(crate) taken_at: Timestamp,
    /// In which term.
    pub(super) term: Option<Term>,
    /// Whether there is no newer one.
    pub is_newest: bool,
    /// What it says.
    pub state: State,
    /// What could not be read.
    pub receipt: Receipt,
    /// Whether all of its parts could.
    pub is_whole: bool,
    /// The parts that could be read: those that the next snapshot may carry over.
    pub(super) good: Vec<PartRef>,
    /// What the next captures are judged against.
    pub(super) held: Holdings,
    /// Whether there is a newer snapshot, which is left aside.
    pub(super) goes_back: bool,
}

impl Loaded {
    /// What was read of a snapshot, behind what there is to say of those that it stands in for.
    pub(super) fn of(began: Instant, found: Latest, read: Read, aside_of: Receipt) -> Self {
        let mut receipt = found.asides();
        let Latest { snapshot, damaged, passed_over } = found;
        let is_newest = passed_over.is_none() && damaged.is_none() && aside_of.items.is_empty();
        receipt.extend(aside_of);
        receipt.extend(read.receipt);
        Self {
            began,
            snapshot: snapshot.id,
            taken_at: snapshot.taken_at,
            term: snapshot.term,
            is_newest,
            held: Holdings::of(&read.state),
            goes_back: passed_over.is_some(),
            is_whole: read.damaged.is_empty(),
            state: read.state,
            receipt,
            good: read.good,
        }
    }
}

impl Hub {
    /// The newest snapshot that can be read; none when the session has no snapshot.
    pub(super) async fn latest(&self, id: SessionId) -> Result<Option<Latest>, LiveError> {
        named(id, latest::latest(self.store(), id).await)
    }

    /// The last good snapshot that can be read: the one that a resume takes.
    pub(super) async fn last_good(&self, id: SessionId) -> Result<Option<Latest>, LiveError> {
        named(id, latest::last_good(self.store(), id).await)
    }

    /// Loads what `session` held in a snapshot.
    pub(super) async fn load(&self, session: &Session, found: Latest) -> Result<Loaded, LiveError> {
        let began = Instant::now();
        let read = Box::pin(self.read_snapshot(session, &found.snapshot, None)).await?;
        Ok(Loaded::of(began, found, read, Receipt::default()))
    }

    /// What a snapshot of a session holds, but for its pictures and the parts of a kind that somebody has at
    /// hand.
    pub(super) async fn read_snapshot(
        &self,
        session: &Session,
        snapshot: &Snapshot,
        at_hand: Option<PartKind>,
    ) -> Result<Read, LiveError> {
        let is_left = |part: &PartRef| part.kind.is_picture() || Some(part.kind) == at_hand;
        let (left, wanted): (Vec<PartRef>, Vec<PartRef>) =
            snapshot.parts.iter().cloned().partition(is_left);
        let mut read = self.read(&session.owner, wanted).await?;
        read.good.extend(left);
        Ok(read)
    }

    /// What parts hold, as far as they can be read.
    pub(super) async fn read(
        &self,
        owner: &Owner,
        wanted: Vec<PartRef>,
    ) -> Result<Read, LiveError> {
        let (mut receipt, mut good) = (Receipt::default(), Vec::with_capacity(wanted.len()));
        let mut read: Vec<Part> = Vec::with_capacity(wanted.len());
        let mut damaged = Vec::new();
        let found = self.store().fetch_parts(owner, &wanted).await?;
        for (part, reference) in found.into_iter().zip(wanted) {
            match part {
                Ok(part) => {
                    read.push(part);
                    good.push(reference);
                }
                Err(error) => {
                    let place = format!("{} {}", reference.kind, reference.name);
                    receipt.push(ReceiptItem::rejected(ItemKind::Part, place, error));
                    damaged.push(reference);
                }
            }
        }
        let join = move || (Unread::of(&read), parts::join(&read));
        let (unread, (state, invalid)) = blocking(join).await?;
        receipt.extend(unread.into_iter().map(ReceiptItem::as_last_known).collect());
        for part in invalid {
            let place = format!("{} {}", part.kind, part.name);
            receipt.push(ReceiptItem::rejected(ItemKind::Part, place, &part));
            let is_it = |good: &PartRef| (good.kind, &good.name) == (part.kind, &part.name);
            damaged.extend(good.extract_if(.., |good| is_it(good)));
        }
        Ok(Read { state, good, damaged, receipt })
    }
}

/// What parts hold.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) state: State,
    /// Those that could be read.
    pub(super) good: Vec<PartRef>,
    /// Those that could not.
    pub(super) damaged: Vec<PartRef>,
    /// What could not, and why.
    pub(super) receipt: Receipt,
}

/// Says of which session all snapshots are damaged.
fn named<T>(id: SessionId, found: Result<T, StoreError>) -> Result<T, LiveError> {
    match found {
        Err(StoreError::SnapshotCorrupt { why, .. }) => {
            Err(LiveError::SnapshotsDamaged { id, why })
        }
        found => Ok(found?),
    }
}
