//! A browser whose session goes to another node: captured ahead while it runs, and for the last time when nothing is on
//! its way between its pages and their sites.
//!
//! The one idea: what the last capture does not hold is lost. So a browser ends only when all that may change was read,
//! and runs on where it was when it was not.

use super::capture::Take;
use super::close::Ending;
use super::resume::Stopwatch;
use super::runner::Runner;
use super::{BrowserSupervisor, LiveError};
use crate::table::Hold;
use baton_browser::capture::Depth;
use baton_session::{Lifecycle, SessionId, SnapshotReason, Unread};
use std::time::Instant;

impl BrowserSupervisor {
    /// Fails where a page of a session does not answer that has a browser here: it is not captured to its end.
    pub async fn expect_answers(&self, id: SessionId) -> Result<(), LiveError> {
        let Ok(runner) = self.runner(id) else { return Ok(()) };
        if runner.live.expect_a_word().await { Ok(()) } else { Err(silent_page()) }
    }

    /// From now on it is known what the pages of a session that is about to move ask for: its pause then waits for
    /// what is on its way.
    pub async fn hear_requests(&self, id: SessionId) {
        if let Ok(runner) = self.runner(id) {
            runner.live.hear_requests().await;
        }
    }

    /// Lets go what was held, if anything was, because the browser runs on; what its pages ask for is not heard any
    /// more.
    pub async fn let_requests_go(&self, id: SessionId) {
        if let Ok(runner) = self.runner(id) {
            runner.live.let_requests_go().await;
        }
    }

    /// Takes a snapshot of everything that a session holds which is about to move, while it still runs: what is made
    /// ready for it is of now then, and its last one has little left to read. What fails is left to that one.
    pub async fn capture_ahead(&self, id: SessionId, pictures: bool) {
        let Ok(runner) = self.runner(id) else { return };
        let (reason, keep) =
            (SnapshotReason::Interval, Some(self.recovery().max_session_snapshots));
        let take = Take { reason, depth: Depth::Whole, pictures, keep };
        if let Err(error) = self.capture_and_tell(&runner, take).await {
            tracing::warn!(session = %id, %error, "a session that moves was not captured ahead");
        }
    }
}

impl BrowserSupervisor {
    /// Captures what the browser of an active session holds, and ends it. Nothing counts but the capture: what its
    /// pages ask for from now on is asked of nobody, so that no token is spent of which the capture has not the next
    /// one. A browser that ends gently asks for all that was held; this one is killed. Where not all of it could be
    /// captured it runs on as before. Returns the lifecycle that the session has then.
    pub(crate) async fn stop_to_move(&self, hold: &Hold) -> Result<Lifecycle, LiveError> {
        let id = hold.id();
        let runner = self.runner(id)?;
        let mut clock = Stopwatch::start(Instant::now());
        if let Err(error) = self.capture_held(&runner, &mut clock).await {
            if runner.live.is_closed() {
                // Whoever looks next finds its browser, or that it is gone.
                self.forget(id);
            } else {
                runner.live.let_requests_go().await;
            }
            return Err(error);
        }
        self.end(&runner, Ending::Kill).await;
        clock.tell_stopped(id);
        self.mark_dead(id).await
    }

    /// Captures a browser once nothing is on its way between its pages and their sites. Fails where a place was not
    /// read: what was written there last would be lost.
    async fn capture_held(&self, runner: &Runner, clock: &mut Stopwatch) -> Result<(), LiveError> {
        if !runner.live.hold_requests().await {
            return Err(silent_page());
        }
        clock.step("hold");
        let mut missed = self.capture_to_move(runner).await?;
        if missed.is_some() {
            // It may only have been slow.
            missed = self.capture_to_move(runner).await?;
        }
        clock.step("capture");
        let Some(Unread { place, reason, .. }) = missed else { return Ok(()) };
        Err(LiveError::NotRead { place, reason })
    }

    /// Takes the last snapshot of a session that is about to move, without pictures. Returns a place that could not be
    /// read in time, if there is one: the snapshot has it as it was last known.
    async fn capture_to_move(&self, runner: &Runner) -> Result<Option<Unread>, LiveError> {
        let (reason, depth) = (SnapshotReason::Shutdown, Depth::Whole);
        let take = Take { reason, depth, pictures: false, keep: None };
        Ok(self.capture_and_tell(runner, take).await?.1)
    }
}

fn silent_page() -> LiveError {
    let (place, reason) = ("a page of it".to_owned(), "it does not answer".to_owned());
    LiveError::NotRead { place, reason }
}
