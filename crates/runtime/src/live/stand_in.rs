//! What stands in for a snapshot of which parts are damaged: the newest older one that is whole.
//!
//! The one idea: damage must not cost more than it has to. An older snapshot that is whole is taken, unless it
//! lacks more than half of what can still be read of the newer one, as one from before a login does: then the
//! newer one is taken as far as it can be read. Where nothing can be read of any, nothing is brought back, so
//! that no empty browser becomes what the next resume takes.

use super::Hub;
use super::error::LiveError;
use super::load::{Loaded, Read};
use crate::latest::Latest;
use baton_session::cookie::Expiry;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::{
    Holdings, Lifecycle, Owner, PartHash, PartKind, PartRef, Receipt, Session, SnapshotReason,
};
use baton_store::Snapshot;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::time::Instant;

/// How many older snapshots are listed.
const LISTED: u32 = 1000;
/// How many of them are read, of those that share no part with what is known to be damaged.
const READ_THROUGH: usize = 20;
/// How many damaged parts are named in one line.
const NAMED: usize = 3;

impl Hub {
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

    /// Loads a snapshot, or what stands in for it; without the parts of a kind that somebody has at hand, if it
    /// is this one. Fails with `SnapshotsDamaged` when nothing of any can be read.
    pub(super) async fn load_whole(
        &self,
        session: &Session,
        found: Latest,
        at_hand: Option<PartKind>,
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
        let is_of_use = at_hand.is_some() || readable(&read) > 0;
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
            let older = self.read_snapshot(session, &snapshot, None).await?;
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

/// How many parts could be read without which a browser is empty.
fn readable(read: &Read) -> usize {
    let is_setting = |kind: PartKind| {
        matches!(kind, PartKind::Environment | PartKind::Certificates | PartKind::Unread)
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
