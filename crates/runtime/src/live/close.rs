//! Ends browsers: with a last snapshot, without one, or not at all when only the node ends.

use super::ending::{Ending, end};
use super::error::LiveError;
use super::runner::Runner;
use super::{Hub, expect_unlent};
use crate::table::Hold;
use baton_session::SnapshotReason;
use baton_store::Snapshot;
use futures_util::future::join_all;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// How much of the time of a stopping node is for what captures leave behind.
const TASKS_LIMIT: Duration = Duration::from_secs(5);

impl Hub {
    /// Takes a last snapshot and ends the browser; a session without one has nothing to end. The row
    /// is the caller's to move.
    pub(crate) async fn close(&self, hold: &Hold) -> Result<Option<Snapshot>, LiveError> {
        expect_unlent(hold)?;
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

    /// Takes a last snapshot before a browser is ended. One that cannot be read is ended all the
    /// same: its last snapshot stands.
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
        expect_unlent(hold)?;
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
        // Until here nobody else might take what was being captured.
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
