//! Ends browsers: with a last snapshot, without one, or not at all when only the node ends.
//!
//! The one idea: a process that is asked and does not answer is killed, but only if it is ours. A browser
//! that a person started on a session's profile is named, and left alone.

use super::runner::Runner;
use super::{BrowserSupervisor, HOLD_LIMIT, LiveError, expect_checked_in};
use crate::table::Hold;
use baton_browser::cdp::Connection;
use baton_browser::{keeper, launch};
use baton_session::{SessionId, SnapshotReason};
use baton_store::Snapshot;
use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::iter;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// How much of the time of a stopping node is for what captures leave behind.
const TASKS_LIMIT: Duration = Duration::from_secs(5);

impl BrowserSupervisor {
    /// Takes a last snapshot and ends the browser; a session without one has nothing to end. The row
    /// is the caller's to move.
    pub(crate) async fn close(&self, hold: &Hold) -> Result<Option<Snapshot>, LiveError> {
        expect_checked_in(hold)?;
        let id = hold.id();
        let Ok(runner) = self.runner(id) else {
            self.end_keeper(id, Ending::Close).await;
            return Ok(None);
        };
        let snapshot = self.capture_last(&runner, SnapshotReason::Close).await?;
        self.end(&runner, Ending::Close).await;
        self.prune(id).await;
        Ok(snapshot)
    }

    /// Takes a last snapshot before a browser is ended. One that cannot be read is ended all the same: its
    /// last snapshot remains.
    pub(super) async fn capture_last(
        &self,
        runner: &Runner,
        reason: SnapshotReason,
    ) -> Result<Option<Snapshot>, LiveError> {
        match self.capture_whole(runner, reason).await {
            Ok(snapshot) => Ok(Some(snapshot)),
            Err(error @ (LiveError::Browser(_) | LiveError::NotActive(_))) => {
                let id = runner.session.id;
                tracing::warn!(session = %id, %error, "the last capture of a browser failed");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Ends the browser, if there is one, without a snapshot.
    pub(crate) async fn abandon(&self, hold: &Hold) -> Result<(), LiveError> {
        expect_checked_in(hold)?;
        let id = hold.id();
        match self.runner(id) {
            Ok(runner) => self.end(&runner, Ending::Kill).await,
            Err(_) => drop(self.end_keeper(id, Ending::Kill).await),
        }
        Ok(())
    }

    /// Captures every session, then lets go of their browsers, which run on with their keepers. Those
    /// that are not captured within `limit` are named. Returns how many browsers there are.
    pub async fn shut_down(&self, limit: Duration) -> usize {
        let deadline = Instant::now() + limit.saturating_sub(TASKS_LIMIT);
        let runners: Vec<Arc<Runner>> = self.runners().values().cloned().collect();
        let captures = runners.iter().map(|runner| async {
            let id = runner.session.id;
            match timeout_at(deadline, self.capture(id, SnapshotReason::Shutdown)).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => {
                    tracing::warn!(session = %id, %error, "the capture before the shutdown failed");
                }
                Err(_) => tracing::warn!(
                    session = %id,
                    "a session was not captured in time; its last snapshot stands"
                ),
            }
        });
        join_all(captures).await;
        // Until here no other node might take what was being captured.
        self.stop_beating();
        for runner in &runners {
            self.forget(runner.session.id);
        }
        self.0.tasks.close();
        let _ = timeout(TASKS_LIMIT.min(limit), self.0.tasks.wait()).await;
        runners.len()
    }

    /// Ends a browser that is watched, and waits until it is gone.
    pub(super) async fn end(&self, runner: &Runner, how: Ending) {
        let id = runner.session.id;
        self.forget(id);
        end(runner.live.connection(), how).await;
        self.end_keeper(id, how).await;
        if let Err(error) = self.wait_for_profile(id).await {
            tracing::warn!(session = %id, %error, "a browser lives on");
        }
    }
}

/// How long a browser whose keeper died, or that was killed, may take to be gone.
const DYING: Duration = Duration::from_secs(10);
/// How long the files of a browser that has ended may take to be closed.
const CLOSING: Duration = Duration::from_secs(1);

/// How a browser ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Ending {
    /// Gently: it writes what it holds to its profile.
    Close,
    /// At once.
    Kill,
}

impl BrowserSupervisor {
    /// Ends the keeper of a session, and with it its browser; one that does not answer is killed.
    /// True when there was one.
    pub(super) async fn end_keeper(&self, id: SessionId, how: Ending) -> bool {
        let answered = match self.connect(id).await {
            Ok(Some(link)) => {
                end(&link.connection, how).await;
                true
            }
            Ok(None) => return false,
            Err(error) => {
                tracing::warn!(session = %id, %error, "a keeper does not answer");
                false
            }
        };
        // A keeper that still listens did not end as asked.
        match self.config().keepers.force(&self.config().data.socket(id)).await {
            Ok(killed) => answered || killed,
            Err(error) => {
                tracing::error!(session = %id, %error, "a keeper could not be killed");
                true
            }
        }
    }

    /// Waits until no browser holds the profile. A browser outlives its keeper for a moment; one of
    /// ours that takes longer hangs, and is killed.
    pub(super) async fn wait_for_profile(&self, id: SessionId) -> Result<(), LiveError> {
        match self.wait_until_free(id).await {
            Err(LiveError::ProfileInUse { profile, .. }) if launch::kill_leftover(&profile)? => {
                self.wait_until_free(id).await
            }
            waited => waited,
        }
    }

    async fn wait_until_free(&self, id: SessionId) -> Result<(), LiveError> {
        let profile = self.config().data.profile(id);
        match launch::wait_until_free(&profile, DYING).await? {
            None => self.wait_until_unclaimed(id).await,
            Some(pid) => Err(LiveError::ProfileInUse { profile, pid }),
        }
    }

    /// Waits until no browser of ours has the profile, in no container and on no machine.
    pub(super) async fn wait_until_unclaimed(&self, id: SessionId) -> Result<(), LiveError> {
        Ok(launch::wait_until_unclaimed(&self.config().data.profile(id), CLOSING).await?)
    }
}

/// Asks a keeper to end with its browser, and waits until both are gone.
pub(super) async fn end(connection: &Connection, how: Ending) {
    let ended = match how {
        Ending::Close => keeper::close(connection).await,
        Ending::Kill => keeper::kill(connection).await,
    };
    if let Err(error) = ended {
        tracing::warn!(%error, "a keeper did not end as asked");
    }
}

/// How many keepers are ended at once.
const AT_ONCE: usize = 8;

impl BrowserSupervisor {
    /// Ends keepers whose sessions are not `active`. Returns how many there were.
    pub(super) async fn end_orphans(&self, active: &HashSet<SessionId>) -> usize {
        let run = std::fs::read_dir(self.config().data.run()).into_iter().flatten().flatten();
        let sockets = run.filter_map(|entry| {
            let path = entry.path();
            let id = path.file_stem()?.to_str()?.parse::<SessionId>().ok()?;
            (path.extension()? == "sock" && !active.contains(&id)).then_some(id)
        });
        let ends: Vec<_> = sockets.map(|id| self.end_orphan(id)).collect();
        let ended: Vec<bool> = iter(ends).buffered(AT_ONCE).collect().await;
        ended.into_iter().filter(|ended| *ended).count()
    }

    /// Ends the keeper of a session that is not active. One whose session is not in this database is left
    /// alone: a person who started the node with another database must not lose a browser by it.
    async fn end_orphan(&self, id: SessionId) -> bool {
        match self.store().fetch_any_session(id).await {
            Ok(Some(_)) => {}
            Ok(None) => {
                tracing::warn!(session = %id, "a socket of a session that this database does not know");
                return false;
            }
            Err(error) => {
                tracing::error!(session = %id, %error, "a keeper could not be looked at");
                return false;
            }
        }
        let Ok(_hold) = self.table().hold(id, "ended", HOLD_LIMIT).await else { return false };
        let ended = self.end_keeper(id, Ending::Close).await;
        if ended {
            tracing::warn!(session = %id, "ended a keeper whose session is not active");
        }
        ended
    }
}
