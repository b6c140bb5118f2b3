//! Rolls a session back: its browser ends, and it comes back from any of its snapshots.
//!
//! The one idea: nothing is lost on the way back either. What the browser held is captured first, and
//! the session has gone back only when the new browser is verified.

use super::ending::Ending;
use super::resume::Resumed;
use super::{Hub, LiveError};
use crate::latest::Latest;
use baton_session::SnapshotReason;
use baton_session::{Lifecycle, Session};
use baton_store::Snapshot;
use std::time::Instant;

impl Hub {
    /// Brings a session back from the snapshot `to`, whether or not a browser runs for it now.
    pub async fn rollback(&self, session: &Session, to: Snapshot) -> Result<Resumed, LiveError> {
        let _taken = self.take(session.id, "rolled back").await?;
        self.expect_its_name(session).await?;
        let started = Instant::now();
        let found = Latest { snapshot: to, damaged: None, passed_over: None };
        let mut loaded = self.load(session, found).await?;
        loaded.goes_back = true;
        loaded.is_newest = false;
        let mut session = session.clone();
        if session.lifecycle == Lifecycle::Active {
            if let Ok(runner) = self.runner(session.id) {
                // Nobody accepted what it holds: it may be the reason for going back.
                self.capture_last(&runner, SnapshotReason::Shutdown).await?;
                self.end(&runner, Ending::Close).await;
            }
            session.lifecycle = self.mark_dead(session.id).await?;
        }
        self.resume_loaded(&session, loaded, started).await
    }
}
