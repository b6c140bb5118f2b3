//! Lends a session to a sandbox: its state goes there, nobody else runs it meanwhile, and what became of
//! it comes back as a snapshot.
//!
//! The one idea: a session that is lent is active, without a browser of this node. When the node dies,
//! its sandboxes die with it, and the next node finds a session without a browser: recoverable.

use super::draft::Draft;
use super::ending::Ending;
use super::held::Held;
use super::load::{Loaded, Read};
use super::{Hub, LiveError, Taken};
use crate::clock::{Anchor, uptime};
use baton_browser::profile::at_rest::Instant;
use baton_browser::profile::compile::{CacheKey, StoreArchive};
use baton_session::{
    Holdings, Lifecycle, Part, PartKind, PartRef, Receipt, SandboxId, Session, SessionId,
    SnapshotId, SnapshotReason, State, Term, parts,
};
use baton_store::{NewSnapshot, Snapshot, StoreError};
use jiff::Timestamp;
use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

/// What a session holds, to be handed in.
#[derive(Debug)]
pub struct Handed {
    /// From which snapshot.
    pub snapshot: SnapshotId,
    /// When it was taken.
    pub taken_at: Timestamp,
    /// What it holds, but for localStorage that is at hand.
    pub state: State,
    /// That localStorage, in the form of a profile.
    pub local_storage: Option<StoreArchive>,
    /// Its parts that could be read.
    pub parts: Vec<PartRef>,
    /// What could not be read.
    pub receipt: Receipt,
}

/// A session that is about to be lent; nothing else is done with it until this is dropped.
pub(crate) struct Lending {
    session: Session,
    /// What is handed in.
    pub(crate) handed: Handed,
    _taken: Taken,
}

/// A session that is lent.
#[derive(Debug)]
pub(crate) struct Loan {
    /// Which one, as it was before.
    pub(crate) session: Session,
    term: Term,
    /// What it held then.
    parts: Vec<PartRef>,
    since: Anchor,
}

impl Hub {
    /// To which sandbox a session is lent.
    pub fn borrower(&self, id: SessionId) -> Option<SandboxId> {
        self.lent().get(&id).copied()
    }

    /// What the last good snapshot of a session holds. An active one is captured first.
    pub async fn copy_out(&self, session: &Session) -> Result<Handed, LiveError> {
        if self.runner(session.id).is_ok() {
            self.capture(session.id, SnapshotReason::Request).await?;
        }
        self.hand(session).await
    }

    /// Takes a session that has no browser, and what it holds.
    pub(crate) async fn begin_lending(&self, session: &Session) -> Result<Lending, LiveError> {
        let taken = self.take(session.id, "lent").await?;
        if session.lifecycle == Lifecycle::Active || self.runner(session.id).is_ok() {
            return Err(LiveError::AlreadyActive(session.id));
        }
        self.expect_its_name(session).await?;
        let handed = self.hand(session).await?;
        Ok(Lending { session: session.clone(), handed, _taken: taken })
    }

    async fn hand(&self, session: &Session) -> Result<Handed, LiveError> {
        let found = self.last_good(session.id).await?.ok_or(LiveError::NoSnapshot(session.id))?;
        let key = CacheKey::of(&found.snapshot.parts).of_session(session.id);
        let now = Timestamp::now().as_microsecond();
        let local_storage = self.compiled().local_storage(key, Instant(now));
        let at_hand = local_storage.as_ref().map(|_| PartKind::LocalStorage);
        let Loaded { snapshot, taken_at, state, receipt, good: parts, .. } =
            self.load_but(session, found, at_hand).await?;
        Ok(Handed { snapshot, taken_at, state, local_storage, parts, receipt })
    }

    /// What a session held when it was lent, and what of that cannot be read any more.
    pub(crate) async fn recall(&self, loan: &Loan) -> Result<(State, Receipt), LiveError> {
        let wanted = loan.parts.iter().filter(|part| !part.kind.is_picture()).cloned();
        let Read { state, receipt, .. } = self.read(&loan.session.owner, wanted.collect()).await?;
        Ok((state, receipt))
    }

    /// Lends it: from now on the sandbox has it, and nobody else.
    pub(crate) async fn lend(
        &self,
        lending: Lending,
        to: SandboxId,
    ) -> Result<(Loan, Handed), LiveError> {
        let Lending { session, handed, _taken } = lending;
        let (id, node) = (session.id, self.config().node);
        self.end_keeper(id, Ending::Close).await;
        let term = self.acquire(&session).await?;
        let (from, now) = (session.lifecycle, Timestamp::now());
        let moved = self.store().update_lifecycle(id, node, from, Lifecycle::Active, now).await;
        if let Err(error) = moved {
            self.store().release_lease(id, node).await?;
            return Err(error.into());
        }
        self.lent().insert(id, to);
        tracing::info!(session = %id, sandbox = %to, "lent a session to a sandbox");
        let since = Anchor::new(Timestamp::now(), uptime());
        Ok((Loan { session, term, parts: handed.parts.clone(), since }, handed))
    }

    /// Stores what became of a session that is lent and held `before` then. When this returns it is on
    /// disk.
    pub(crate) async fn write_back(
        &self,
        loan: &Loan,
        before: Holdings,
        state: State,
    ) -> Result<Snapshot, LiveError> {
        let taken_at = Timestamp::now();
        let shrunk = Held::then(before, loan.since).has_shrunk_to(&state, taken_at, uptime());
        let cut = |known: Vec<PartRef>, state: State| {
            self.blocking(move || Ok::<_, LiveError>(draft(&state, &known)))
        };
        let first = cut(loan.parts.clone(), state.clone()).await?;
        match self.store_loan(loan, taken_at, shrunk, first).await {
            Err(StoreError::PartMissing { .. }) => {
                let whole = cut(Vec::new(), state).await?;
                Ok(self.store_loan(loan, taken_at, shrunk, whole).await?)
            }
            stored => Ok(stored?),
        }
    }

    async fn store_loan(
        &self,
        loan: &Loan,
        taken_at: Timestamp,
        shrunk: bool,
        draft: Draft,
    ) -> Result<Snapshot, StoreError> {
        let new = NewSnapshot {
            id: SnapshotId::new(taken_at, rand::random()),
            session: loan.session.id,
            owner: loan.session.owner.clone(),
            taken_at,
            reason: SnapshotReason::Sandbox,
            term: Some(loan.term),
            shrunk,
            sibling: false,
            saved: false,
            parts: draft.changed,
            carried: draft.carried,
            keep: Some(self.recovery().max_session_snapshots),
        };
        self.store().create_snapshot(new).await
    }

    /// The sandbox has the session no longer: it stands where it stood, or can be resumed.
    pub(crate) async fn give_back(&self, loan: &Loan) -> Result<(), LiveError> {
        let (id, node) = (loan.session.id, self.config().node);
        let to = match loan.session.lifecycle {
            Lifecycle::Closed => Lifecycle::Closed,
            _ => Lifecycle::Recoverable,
        };
        let moved =
            self.store().update_lifecycle(id, node, Lifecycle::Active, to, Timestamp::now());
        match moved.await {
            // Another node took it, or somebody moved it: that stands.
            Ok(_)
            | Err(StoreError::LifecycleConflict { .. } | StoreError::HeldElsewhere { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        self.lent().remove(&id);
        Ok(())
    }

    fn lent(&self) -> MutexGuard<'_, HashMap<SessionId, SandboxId>> {
        self.0.lent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The parts of a state, with the pictures that were there before.
fn draft(state: &State, known: &[PartRef]) -> Draft {
    let all: Vec<Part> = parts::split(state);
    let mut draft = Draft::of(all, known);
    draft.carried.extend(known.iter().filter(|part| part.kind.is_picture()).cloned());
    draft
}
