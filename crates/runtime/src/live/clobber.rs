//! Never clobber: a state that lost most of what it held does not take the place of a good one.
//!
//! The one idea: a runner remembers what the last good snapshot held, so that each automatic capture
//! can be judged without a look at the database. What is missing when a browser that was started is read for
//! the first time is lost; what goes from then on was removed by somebody, and what somebody asked for is
//! accepted as it is: so a sign-out is respected.

use super::Hub;
use super::error::LiveError;
use super::held::Held;
use super::load::Loaded;
use super::runner::Runner;
use baton_session::SnapshotReason;
use baton_session::{Cookie, Holdings, PartRef, Session, SnapshotId, State, Term};
use baton_store::clock::uptime;
use baton_store::{NewSnapshot, Snapshot, StoreError};
use jiff::Timestamp;
use std::sync::PoisonError;

impl Runner {
    /// Whether a capture of `state` has shrunk, and nobody asked for it.
    pub(super) fn has_shrunk(&self, reason: SnapshotReason, state: &State, at: Timestamp) -> bool {
        if reason.is_asked_for() {
            return false;
        }
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let shrunk = held.has_shrunk_to(state, at, uptime());
        if shrunk {
            tracing::warn!(
                session = %self.session.id,
                "more than half of the cookies or of the storage is gone; a resume takes the last good snapshot"
            );
        }
        shrunk
    }

    /// Remembers what a snapshot held, if it is a good one.
    pub(super) fn remember(&self, snapshot: &Snapshot, state: &State) {
        if !snapshot.shrunk && !snapshot.sibling {
            *self.held.lock().unwrap_or_else(PoisonError::into_inner) =
                Held::watched(Holdings::of(state));
        }
    }

    /// Remembers cookies that are held besides what the last good snapshot held.
    pub(super) fn remember_cookies(&self, cookies: &[Cookie]) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).add_cookies(cookies);
    }

    /// Whether the browser has been read since it was started.
    pub(super) fn is_watched(&self) -> bool {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).is_watched()
    }
}

impl Hub {
    /// What the last good snapshot of a session held.
    pub(super) async fn held(&self, session: &Session) -> Result<Holdings, LiveError> {
        match self.last_good(session.id).await? {
            Some(found) => Ok(self.load(session, found).await?.held),
            None => Ok(Holdings::default()),
        }
    }

    /// Makes what a session goes back to its newest snapshot, so that no later capture or carry-over
    /// builds on the newer one that was left aside.
    pub(super) async fn go_back(
        &self,
        session: &Session,
        term: Term,
        loaded: &Loaded,
    ) -> Result<SnapshotId, LiveError> {
        let all = loaded.good.clone();
        match self.copy(session, term, all).await {
            // Nobody has looked at the pictures yet, and they are not worth failing for.
            Err(StoreError::PartMissing { kind, .. }) if kind.is_picture() => {
                let rest = loaded.good.iter().filter(|part| !part.kind.is_picture());
                Ok(self.copy(session, term, rest.cloned().collect()).await?)
            }
            copied => Ok(copied?),
        }
    }

    async fn copy(
        &self,
        session: &Session,
        term: Term,
        carried: Vec<PartRef>,
    ) -> Result<SnapshotId, StoreError> {
        let taken_at = Timestamp::now();
        let new = NewSnapshot {
            id: SnapshotId::new(taken_at, rand::random()),
            session: session.id,
            owner: session.owner.clone(),
            taken_at,
            reason: SnapshotReason::Rollback,
            term: Some(term),
            shrunk: false,
            sibling: false,
            saved: false,
            parts: Vec::new(),
            carried,
            keep: None,
        };
        Ok(self.store().create_snapshot(new).await?.id)
    }
}
