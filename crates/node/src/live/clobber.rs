//! Never clobber: a state that lost most of what it held does not take the place of a good one.
//!
//! The one idea: a runner remembers what the last good snapshot held, so that each automatic capture
//! can be judged without a look at the database. What somebody asked for is accepted as it is, which
//! is how a logout is respected. Cookies that go because the clock was set forward have not expired:
//! that is judged by a clock that nobody sets.

use super::load::Loaded;
use super::runner::Runner;
use super::{Hub, LiveError};
use crate::clock::{Anchor, uptime};
use baton_session::SnapshotReason;
use baton_session::cookie::Expiry;
use baton_session::{Holdings, PartKind, PartRef, Session, SnapshotId, State, Term};
use baton_store::{NewSnapshot, Snapshot, StoreError};
use jiff::Timestamp;
use std::sync::PoisonError;
use std::time::Duration;

/// What the last good snapshot held, and since when that is known.
#[derive(Debug)]
pub(super) struct Held {
    holdings: Holdings,
    since: Anchor,
}

impl Held {
    /// This is what is held from now on.
    pub(super) fn now(holdings: Holdings) -> Self {
        Self { holdings, since: Anchor::new(Timestamp::now(), uptime()) }
    }

    /// Whether a state that was read at this instant, by both clocks, has shrunk since.
    fn has_shrunk_to(&self, state: &State, at: Timestamp, up: Duration) -> bool {
        let now = self.since.earliest(at, up);
        self.holdings.has_shrunk_to(state, Expiry(now.as_microsecond()))
    }
}

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
                Held::now(Holdings::of(state));
        }
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
            // Nobody has looked at the preview yet, and it is not worth failing for.
            Err(StoreError::PartMissing { kind: PartKind::Preview, .. }) => {
                let rest = loaded.good.iter().filter(|part| part.kind != PartKind::Preview);
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
            parts: Vec::new(),
            carried,
        };
        Ok(self.store().create_snapshot(new).await?.id)
    }
}

#[cfg(test)]
mod tests {
    use super::{Anchor, Held};
    use baton_session::cookie::Expiry;
    use baton_session::{Cookie, Holdings, State};
    use jiff::{SignedDuration, Timestamp};
    use std::time::Duration;

    const UP: Duration = Duration::from_hours(5);
    const HOUR: SignedDuration = SignedDuration::from_hours(1);

    fn noon() -> Timestamp {
        "2026-01-01T12:00:00Z".parse().unwrap()
    }

    /// One login that lasts for an hour, and was there at noon.
    fn held() -> Held {
        let expires = Expiry((noon() + HOUR).as_microsecond());
        let login: Cookie = serde_json::from_value(serde_json::json!({
            "name": "sid", "value": "1", "domain": "shop.test", "path": "/", "expires": expires,
        }))
        .unwrap();
        let state = State { cookies: vec![login], ..State::default() };
        Held { holdings: Holdings::of(&state), since: Anchor::new(noon(), UP) }
    }

    #[test]
    fn a_login_that_a_jump_of_the_clock_took_away_has_not_expired() {
        let (minute, gone) = (SignedDuration::from_mins(1), State::default());
        let shortly = UP + Duration::from_mins(1);
        let jumped = |by| held().has_shrunk_to(&gone, noon() + minute + by, shortly);
        assert!(jumped(24 * HOUR), "forward a day");
        assert!(jumped(-HOUR), "back an hour");
        assert!(jumped(SignedDuration::ZERO), "not at all");
    }

    #[test]
    fn a_login_whose_time_has_passed_may_go() {
        let (later, up) = (noon() + 2 * HOUR, UP + Duration::from_hours(2));
        assert!(!held().has_shrunk_to(&State::default(), later, up));
        assert!(
            held().has_shrunk_to(&State::default(), noon(), up),
            "the clock says that it lives"
        );
    }
}
