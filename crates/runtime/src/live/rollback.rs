//! Rolls a session back: its browser ends, and it comes back from any of its snapshots.
//!
//! The one idea: nothing is lost on the way back either. What the browser held is captured first, and
//! the session has gone back only when the new browser is verified.

use super::Hub;
use super::ending::Ending;
use super::error::LiveError;
use super::load::Loaded;
use super::stand_in::expect_something;
use crate::latest::Latest;
use crate::table::Hold;
use baton_session::{Lifecycle, Receipt, Session, SnapshotReason};
use baton_store::Snapshot;
use std::time::Instant;

impl Hub {
    /// Loads the snapshot `to` of a session, to go back to it: that one and no other, as far as it can be
    /// read. Fails with `SnapshotDamaged` when nothing of it can.
    pub(crate) async fn load_to_go_back(
        &self,
        session: &Session,
        to: Snapshot,
    ) -> Result<Loaded, LiveError> {
        let began = Instant::now();
        let read = Box::pin(self.read_snapshot(session, &to, None)).await?;
        expect_something(&to, &read)?;
        let found = Latest { snapshot: to, damaged: None, passed_over: None };
        let loaded = Loaded::of(began, found, read, Receipt::default());
        Ok(Loaded { goes_back: true, is_newest: false, ..loaded })
    }

    /// Captures what the browser of an active session holds, and ends it. Says where the session stands
    /// then.
    pub(crate) async fn stop(&self, hold: &Hold) -> Result<Lifecycle, LiveError> {
        if let Ok(runner) = self.runner(hold.id()) {
            // Nobody accepted what it holds: it may be the reason for going back.
            self.capture_last(&runner, SnapshotReason::Shutdown).await?;
            self.end(&runner, Ending::Close).await;
        }
        self.mark_dead(hold.id()).await
    }
}
