//! At start-up: every session that was active carries on, becomes recoverable, or ends.
//!
//! The one idea: a row says what was promised, a keeper what runs, and here the two are made to
//! agree. What hangs costs its own session some seconds, and the others nothing.

use super::close::Ending;
use super::held::LastHeld;
use super::lease::{LAPSED, Taker, Whereabouts, was_lost};
use super::runner::SnapshotBaseline;
use super::{BrowserSupervisor, HOLD_LIMIT, LiveError, expect_checked_in};
use crate::table::Hold;
use baton_browser::keeper::KeeperLink;
use baton_browser::live::Live;
use baton_session::{Lifecycle, Session, SessionId};
use baton_store::StoreError;
use futures_util::StreamExt;
use futures_util::future::join;
use futures_util::stream::iter;
use jiff::Timestamp;
use std::collections::HashSet;
use std::time::Duration;

/// How many sessions are looked at at once.
const AT_ONCE: usize = 8;

/// What the scan at start-up found.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Recovered {
    /// Browsers that were still running.
    pub carried_on: usize,
    /// Sessions that can be resumed.
    pub recoverable: usize,
    /// Sessions without a snapshot, closed.
    pub closed: usize,
    /// Sessions whose snapshot is old.
    pub stale: usize,
    /// Keepers whose session is not active, ended.
    pub orphans: usize,
}

impl BrowserSupervisor {
    /// Looks at every session of this node that was active when it ended, and ends the keepers of those that
    /// were not. One that cannot be looked at is logged, and looked at again when a client asks for it. What the
    /// node was about to start then it holds no longer. Also returns those whose browser is gone.
    pub async fn recover(&self) -> Result<(Recovered, Vec<Session>), LiveError> {
        let node = self.config().node;
        let is_active =
            |session: &Session| session.node == node && session.lifecycle == Lifecycle::Active;
        let held = self.store().list_held_sessions(node).await?;
        let (sessions, begun): (Vec<_>, Vec<_>) = held.into_iter().partition(is_active);
        let active: HashSet<SessionId> = sessions.iter().map(|session| session.id).collect();
        let looks: Vec<_> = sessions.iter().map(|session| self.look_at(session)).collect();
        let looks = iter(looks).buffered(AT_ONCE).collect::<Vec<_>>();
        let (found, orphans) = join(looks, self.end_orphans(&active)).await;
        let mut recovered = Recovered { orphans, ..Recovered::default() };
        let mut lost = Vec::new();
        for (session, found) in sessions.into_iter().zip(found) {
            match found {
                Ok(Whereabouts::Here(Lifecycle::Active)) => recovered.carried_on += 1,
                Ok(Whereabouts::Here(Lifecycle::Closed)) => recovered.closed += 1,
                Ok(Whereabouts::Here(Lifecycle::Stale)) => recovered.stale += 1,
                Ok(Whereabouts::Elsewhere(_)) => {}
                Ok(Whereabouts::Here(_)) => {
                    recovered.recoverable += 1;
                    lost.push(Session { lifecycle: Lifecycle::Recoverable, ..session });
                }
                Err(error) => {
                    tracing::error!(session = %session.id, %error, "a session could not be looked at");
                }
            }
        }
        // Their keepers have ended by now.
        for Session { id, .. } in begun {
            match self.release_begun(id).await {
                Ok(Some(session)) => {
                    recovered.recoverable += 1;
                    lost.push(session);
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::error!(session = %id, %error, "a session that was being started is still held");
                }
            }
        }
        Ok((recovered, lost))
    }

    /// Gives back the lease of a session that this node was about to start when it ended. Returns the session if it
    /// is to be brought back.
    async fn release_begun(&self, id: SessionId) -> Result<Option<Session>, LiveError> {
        let node = self.config().node;
        let _hold = self.table().hold(id, "looked for", HOLD_LIMIT).await?;
        // The operation that held it before may have moved it.
        let Some(now) = self.store().fetch_any_session(id).await? else { return Ok(None) };
        if now.node == node && now.lifecycle == Lifecycle::Active {
            return Ok(None);
        }
        self.store().release_lease(id, node).await?;
        tracing::info!(session = %id, lifecycle = %now.lifecycle, "holds no longer what it was about to start");
        let since = Timestamp::now().checked_sub(LAPSED).unwrap_or(Timestamp::MIN);
        let is_lost = now.node == node && was_lost(now.lifecycle, now.updated_at, since);
        Ok(is_lost.then_some(now))
    }

    /// Whether sessions that were lost are to be resumed by themselves.
    pub fn rehydrates(&self) -> bool {
        self.recovery().auto_rehydrate
    }

    /// Makes row and browser of a session agree, unless they do. Returns whether the row may be another
    /// one than before.
    pub(crate) async fn settle(&self, hold: &Hold, session: &Session) -> Result<bool, LiveError> {
        let is_held = self.runner(session.id).is_ok() || hold.checked_out_to().is_some();
        if session.lifecycle != Lifecycle::Active || is_held {
            return Ok(false);
        }
        let now = self.look_at_held(hold, session).await?;
        tracing::warn!(session = %session.id, lifecycle = %now, "nobody watched an active session");
        Ok(true)
    }

    /// Finds the browser of a session that was active, or moves the session to where its snapshots allow.
    pub(super) async fn look_at(&self, session: &Session) -> Result<Whereabouts, LiveError> {
        let hold = self.table().hold(session.id, "looked for", HOLD_LIMIT).await?;
        // The operation that held it before may have moved it.
        match self.store().fetch_session(&session.owner, session.id).await? {
            now if now.node != self.config().node => Ok(Whereabouts::Elsewhere(now.node)),
            now if now.lifecycle == Lifecycle::Active => {
                self.look_at_held(&hold, &now).await.map(Whereabouts::Here)
            }
            now => Ok(Whereabouts::Here(now.lifecycle)),
        }
    }

    async fn look_at_held(&self, hold: &Hold, session: &Session) -> Result<Lifecycle, LiveError> {
        expect_checked_in(hold)?;
        let id = session.id;
        if self.runner(id).is_ok() {
            return Ok(Lifecycle::Active);
        }
        let latest = self.latest(id).await;
        if let Ok(None) = latest {
            // It was being opened, and no client heard that it was.
            self.end_keeper(id, Ending::Kill).await;
            return self.mark_dead(id).await;
        }
        if let Some(link) = self.find_keeper(id).await {
            match self.carry_on(session, link).await {
                Ok(()) => return Ok(Lifecycle::Active),
                Err(error) => {
                    tracing::warn!(session = %id, %error, "its keeper runs, but its browser does not answer");
                }
            }
        }
        if self.config().lease.is_some() {
            // From here on another node may run it.
            self.end_keeper(id, Ending::Kill).await;
            self.wait_for_profile(id).await?;
        }
        self.mark_dead(id).await
    }

    /// The keeper of a session. One that stays silent is left to the next resume or close of the session: it
    /// may yet wake up, and nothing is lost by waiting.
    async fn find_keeper(&self, id: SessionId) -> Option<KeeperLink> {
        self.connect(id).await.unwrap_or_else(|error| {
            tracing::warn!(session = %id, %error, "a keeper does not answer");
            None
        })
    }

    /// The keeper outlived the node: nothing happened to the browser, so nothing is done to it.
    async fn carry_on(&self, session: &Session, link: KeeperLink) -> Result<(), LiveError> {
        let mut from = None;
        let (mut known, last, held) = match self.latest(session.id).await {
            Ok(Some(found)) => {
                from = Some(found.snapshot.id);
                let shrunk = found.snapshot.shrunk;
                let mut loaded = self.load(session, found).await?;
                loaded.state.origins.values_mut().for_each(|origin| origin.raw.clear());
                let held = if shrunk {
                    LastHeld::restored(self.held(session).await?)
                } else {
                    LastHeld::watched(loaded.held)
                };
                (loaded.state, loaded.good, Some(held))
            }
            // The browser has it all: the next snapshot makes good what is damaged.
            Ok(None) | Err(LiveError::SnapshotsDamaged { .. }) => Default::default(),
            Err(error) => return Err(error),
        };
        if known.environment.egress.is_none() && link.welcome.fenced {
            // No snapshot says any more where it may go; whoever leads it there does.
            known.environment.egress = link.asked_of_way_out().await?;
        }
        let term = self.acquire(session, Taker::Node).await?;
        let live = if link.welcome.attached {
            // What was granted to sites by then only their pages can say.
            known.environment.permissions.clear();
            Live::start(link, known).await?
        } else {
            self.on_its_profile(session, Live::start(link, known).await?)
        };
        self.watch(session.clone(), term, live, SnapshotBaseline { last, held });
        self.record_if_asked(session, false).await;
        self.note_profile(session.id, term, from).await;
        Ok(())
    }

    /// Moves an active session whose browser is gone to where its snapshots allow.
    pub(super) async fn mark_dead(&self, id: SessionId) -> Result<Lifecycle, LiveError> {
        let now = Timestamp::now();
        let next = self.without_browser(id, now).await?;
        let moved =
            self.store().update_lifecycle(id, self.config().node, Lifecycle::Active, next, now);
        match moved.await {
            // A client closed it in the meantime: that counts.
            Err(StoreError::LifecycleConflict { found, .. }) => Ok(found),
            moved => Ok(moved?.lifecycle),
        }
    }

    /// Where the snapshots of a session allow it to be, now that its browser is gone.
    pub(super) async fn without_browser(
        &self,
        id: SessionId,
        now: Timestamp,
    ) -> Result<Lifecycle, LiveError> {
        match self.latest(id).await {
            Ok(None) => Ok(Lifecycle::Closed),
            Ok(Some(found))
                if is_old(found.snapshot.taken_at, now, self.recovery().max_session_age) =>
            {
                Ok(Lifecycle::Stale)
            }
            // Whether a person wants to give up damaged snapshots is not for us to say.
            Ok(Some(_)) | Err(LiveError::SnapshotsDamaged { .. }) => Ok(Lifecycle::Recoverable),
            Err(error) => Err(error),
        }
    }
}

/// Whether a snapshot is older than `most`. One from the future, because the clock was set back, is
/// not.
fn is_old(taken_at: Timestamp, now: Timestamp, most: Duration) -> bool {
    Duration::try_from(now.duration_since(taken_at)).is_ok_and(|age| age > most)
}

#[cfg(test)]
mod tests {
    use super::{Duration, Timestamp, is_old};
    use jiff::SignedDuration;

    #[test]
    fn a_clock_that_was_set_back_makes_nothing_old() {
        let day = Duration::from_hours(24);
        let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let after = |hours| is_old(noon, noon + SignedDuration::from_hours(hours), day);
        assert!(!after(-1) && !after(0) && !after(24));
        // A clock that was set forward cannot be told from a machine that was off for a day; what
        // is stale is as whole as before, and resumed by a person.
        assert!(after(25));
        assert!(!is_old(Timestamp::MAX, Timestamp::MIN, day));
    }
}
