//! Loads the state of a snapshot, or of an older one where parts of it are damaged.
//!
//! The one idea: damage costs itself only, is named, and must not cost more than it has to. An older snapshot
//! that is whole is taken, unless it lacks more than half of what can still be read of the newer one, as one
//! from before a login does: then the newer one is taken as far as it can be read. Where nothing can be read
//! of any, nothing is brought back, so that no empty browser becomes what the next resume takes.

use super::{BrowserSupervisor, LiveError};
use crate::latest;
use crate::latest::Latest;
use baton_session::cookie::Expiry;
use baton_session::login::SignIns;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{
    Holdings, Lifecycle, Owner, Part, PartHash, PartKind, PartRef, Receipt, Session, SessionId,
    SnapshotId, SnapshotReason, State, Term, Unread, parts,
};
use baton_store::blocking::blocking;
use baton_store::{Snapshot, StoreError};
use jiff::Timestamp;
use std::collections::BTreeSet;
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
    /// What sign-ins changed.
    pub(super) sign_ins: SignIns,
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
    /// What was read of a snapshot, behind what there is to say of those that it replaces.
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
            sign_ins: read.sign_ins,
            receipt,
            good: read.good,
        }
    }
}

impl BrowserSupervisor {
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
        let read = Box::pin(self.read_snapshot(session, &found.snapshot, &[])).await?;
        Ok(Loaded::of(began, found, read, Receipt::default()))
    }

    /// What a snapshot of a session holds, but for its pictures and the parts of kinds that the caller has at
    /// hand.
    pub(super) async fn read_snapshot(
        &self,
        session: &Session,
        snapshot: &Snapshot,
        at_hand: &[PartKind],
    ) -> Result<Read, LiveError> {
        let is_left = |part: &PartRef| part.kind.is_picture() || at_hand.contains(&part.kind);
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
        let join = move || (Unread::of(&read), SignIns::of(&read), parts::join(&read));
        let (unread, sign_ins, (state, invalid)) = blocking(join).await?;
        receipt.extend(unread.into_iter().map(ReceiptItem::as_last_known).collect());
        for part in invalid {
            let place = format!("{} {}", part.kind, part.name);
            receipt.push(ReceiptItem::rejected(ItemKind::Part, place, &part));
            let is_it = |good: &PartRef| (good.kind, &good.name) == (part.kind, &part.name);
            damaged.extend(good.extract_if(.., |good| is_it(good)));
        }
        Ok(Read { state, sign_ins, good, damaged, receipt })
    }
}

/// What parts hold.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) state: State,
    /// What sign-ins changed.
    pub(super) sign_ins: SignIns,
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

/// How many older snapshots are listed.
const LISTED: u32 = 1000;
/// How many of them are read, of those that share no part with what is known to be damaged.
const READ_THROUGH: usize = 20;
/// How many damaged parts are named in one line.
const NAMED: usize = 3;

impl BrowserSupervisor {
    /// Loads what a session holds now. One whose browser runs is captured first, and where parts of that
    /// snapshot are damaged, everything is stored anew: the browser has it.
    pub(crate) async fn load_now(&self, session: &Session) -> Result<Loaded, LiveError> {
        if session.lifecycle != Lifecycle::Active {
            return self.load_last_good(session).await;
        }
        self.capture(session.id, SnapshotReason::Request).await?;
        match self.load_last_good(session).await {
            Ok(loaded) if loaded.is_newest && loaded.is_whole => return Ok(loaded),
            Ok(_) | Err(LiveError::SnapshotsDamaged { .. }) => {}
            Err(error) => return Err(error),
        }
        self.capture_anew(session.id).await?;
        self.load_last_good(session).await
    }

    /// Which of some parts cannot be read.
    pub async fn damaged_of(
        &self,
        owner: &Owner,
        parts: Vec<PartRef>,
    ) -> Result<Vec<PartRef>, LiveError> {
        Ok(self.read(owner, parts).await?.damaged)
    }

    /// Loads a snapshot, or what replaces it; without the parts of kinds that the caller has at hand, if it is
    /// this one. Fails with `SnapshotsDamaged` when nothing of any can be read.
    pub(super) async fn load_whole(
        &self,
        session: &Session,
        found: Latest,
        at_hand: &[PartKind],
    ) -> Result<Loaded, LiveError> {
        let began = Instant::now();
        let read = Box::pin(self.read_snapshot(session, &found.snapshot, at_hand)).await?;
        if read.damaged.is_empty() {
            return Ok(Loaded::of(began, found, read, Receipt::default()));
        }
        let id = session.id;
        tracing::error!(session = %id, snapshot = %found.snapshot.id, parts = read.damaged.len(),
            "parts of a snapshot are damaged");
        let (whole, most) = Box::pin(self.older(session, &found.snapshot, &read)).await?;
        let is_of_use = !lost_its_way_out(&read) && (!at_hand.is_empty() || readable(&read) > 0);
        match whole.or(most.filter(|_| !is_of_use)) {
            Some((snapshot, older)) => {
                let line = Receipt::from_iter([passed_by(&found.snapshot, &read, &snapshot)]);
                Ok(Loaded::of(began, Latest { snapshot, ..found }, older, line))
            }
            None if is_of_use => Ok(Loaded::of(began, found, read, Receipt::default())),
            None => Err(LiveError::SnapshotsDamaged { id, why: damage(&read) }),
        }
    }

    /// Of the good snapshots before this one: the newest that is whole and holds what this one still does, and
    /// the one of which the most can be read.
    async fn older(
        &self,
        session: &Session,
        newest: &Snapshot,
        read: &Read,
    ) -> Result<(Option<Taken>, Option<Taken>), LiveError> {
        let now = Expiry(Timestamp::now().as_microsecond());
        let held = Holdings::of(&read.state);
        let mut damaged: BTreeSet<PartHash> = hashes(&read.damaged).collect();
        let mut most: Option<Taken> = None;
        let all = self.store().list_snapshots(session.id, Some(newest.id), LISTED).await?;
        let good = all.into_iter().filter(|snapshot| !snapshot.sibling && !snapshot.shrunk);
        let mut left = READ_THROUGH;
        for snapshot in good {
            let is_hurt = hashes(&snapshot.parts).any(|hash| damaged.contains(&hash));
            // One that is hurt is of use only while nothing was found of which anything can be read.
            if left == 0 || is_hurt && most.is_some() {
                continue;
            }
            left -= 1;
            let older = self.read_snapshot(session, &snapshot, &[]).await?;
            damaged.extend(hashes(&older.damaged));
            if older.damaged.is_empty() && !held.has_shrunk_to(&older.state, now) {
                return Ok((Some((snapshot, older)), most));
            }
            let before = most.as_ref().map_or(0, |(_, before)| readable(before));
            if readable(&older) > before {
                most = Some((snapshot, older));
            }
        }
        Ok((None, most))
    }
}

type Taken = (Snapshot, Read);

/// Checks that something can be read of a snapshot that was asked for by its name.
pub(super) fn expect_something(snapshot: &Snapshot, read: &Read) -> Result<(), LiveError> {
    if read.damaged.is_empty() || readable(read) > 0 {
        return Ok(());
    }
    Err(LiveError::SnapshotDamaged { snapshot: snapshot.id, why: damage(read) })
}

fn hashes(parts: &[PartRef]) -> impl Iterator<Item = PartHash> {
    parts.iter().filter(|part| !part.kind.is_picture()).map(|part| part.hash)
}

/// Whether nobody knows any more where the browser may go: it would go everywhere.
fn lost_its_way_out(read: &Read) -> bool {
    read.damaged.iter().any(|part| part.kind == PartKind::Egress)
}

/// How many parts could be read without which a browser is empty. None counts of a session that lost its way
/// out.
fn readable(read: &Read) -> usize {
    if lost_its_way_out(read) {
        return 0;
    }
    let is_setting = |kind: PartKind| {
        matches!(
            kind,
            PartKind::Environment
                | PartKind::Certificates
                | PartKind::Egress
                | PartKind::Unread
                | PartKind::SignIns
        )
    };
    let counts = |part: &&PartRef| !part.kind.is_picture() && !is_setting(part.kind);
    read.good.iter().filter(counts).count()
}

/// What is damaged, in a few words.
fn damage(read: &Read) -> String {
    let named = read.damaged.iter().take(NAMED).map(|part| format!("{} {}", part.kind, part.name));
    let named: Vec<String> = named.map(|name| name.trim_end().to_owned()).collect();
    let more = read.damaged.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let all = read.damaged.len() + read.good.len();
    format!("{} of its {all} parts: {}{more}", read.damaged.len(), named.join(", "))
}

/// The line of a receipt that says why a damaged snapshot was not taken.
fn passed_by(newer: &Snapshot, read: &Read, taken: &Snapshot) -> ReceiptItem {
    let why = format!("damaged are {}; taken instead: the one of {}", damage(read), taken.taken_at);
    ReceiptItem::rejected(ItemKind::Part, format!("snapshot {}", newer.id), why)
}
