//! Ends browsers: with a last snapshot, without one, or not at all when only the node ends.

use super::ending::{Ending, end};
use super::runner::Runner;
use super::{Hub, LiveError, expect_unlent};
use crate::table::Hold;
use baton_session::SnapshotReason;
use baton_store::Snapshot;
use futures_util::future::join_all;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long the captures of a stopping node may take together.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(20);

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

    /// Captures every session, then lets go of their browsers, which run on with their keepers.
    /// Returns how many those are.
    pub async fn shut_down(&self) -> usize {
        let runners: Vec<Arc<Runner>> = self.runners().values().cloned().collect();
        let captures = runners.iter().map(|runner| async {
            let id = runner.session.id;
            if let Err(error) = self.capture(id, SnapshotReason::Shutdown).await {
                tracing::warn!(session = %id, %error, "the capture before the shutdown failed");
            }
        });
        if timeout(SHUTDOWN_LIMIT, join_all(captures)).await.is_err() {
            tracing::warn!("some sessions were not captured in time; their last snapshots stand");
        }
        for runner in &runners {
            self.forget(runner.session.id);
        }
        self.0.tasks.close();
        let _ = timeout(Duration::from_secs(5), self.0.tasks.wait()).await;
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
