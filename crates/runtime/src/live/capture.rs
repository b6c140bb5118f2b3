//! Captures of this node: what was read becomes a snapshot, and only what changed is stored.
//!
//! Contexts that clients made in a running browser are read once, when a client asks for it.

use super::BrowserSupervisor;
use super::close::Ending;
use super::draft::{Draft, draft};
use super::error::LiveError;
use super::policy::Began;
use super::runner::Runner;
use baton_browser::capture::{Captured, Depth};
use baton_browser::cdp::CdpError;
use baton_browser::keeper::{KeeperError, Role};
use baton_browser::live::{Jar, Live};
use baton_browser::{ContextId, MadeContext, keeper};
use baton_session::{Environment, SessionId, SnapshotId, SnapshotReason, State, Tab};
use baton_store::{NewSnapshot, Snapshot, StoreError};
use jiff::Timestamp;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long all of a context may take.
const LIMIT: Duration = Duration::from_mins(1);

impl BrowserSupervisor {
    /// Takes a snapshot now. When this returns it is on disk, and holds all that was written before
    /// the call by pages that answer.
    pub async fn capture(
        &self,
        id: SessionId,
        reason: SnapshotReason,
    ) -> Result<Snapshot, LiveError> {
        let runner = self.runner(id)?;
        let keep = Some(self.recovery().max_session_snapshots);
        let take = Take { reason, depth: Depth::Whole, pictures: true, keep };
        let snapshot = self.capture_with(&runner, take).await?;
        snapshot.ok_or(LiveError::NotActive(id))
    }

    /// Takes a snapshot now that carries nothing over from the last one: what is damaged in the database is
    /// stored anew.
    pub async fn capture_anew(&self, id: SessionId) -> Result<Snapshot, LiveError> {
        let runner = self.runner(id)?;
        runner.last.lock().await.retain(|part| part.kind.is_picture());
        self.capture(id, SnapshotReason::Request).await
    }

    /// Takes a snapshot of everything, and lets no old one go.
    pub(super) async fn capture_whole(
        &self,
        runner: &Runner,
        reason: SnapshotReason,
    ) -> Result<Snapshot, LiveError> {
        let take = Take { reason, depth: Depth::Whole, pictures: true, keep: None };
        let snapshot = self.capture_with(runner, take).await?;
        snapshot.ok_or(LiveError::NotActive(runner.session.id))
    }

    /// Takes a snapshot of what changed; none when nothing did.
    pub(super) async fn capture_automatically(
        &self,
        runner: &Runner,
        reason: SnapshotReason,
    ) -> Result<Option<Snapshot>, LiveError> {
        let keep = Some(self.recovery().max_session_snapshots);
        let pictures = reason == SnapshotReason::Navigation;
        self.capture_with(runner, Take { reason, depth: Depth::Changed, pictures, keep }).await
    }

    /// Takes a snapshot of what the tabs of a browser that has just come back made of its state, and of
    /// no picture: that is taken once they have come to rest.
    pub(super) async fn capture_first(&self, runner: &Runner) -> Result<(), LiveError> {
        let keep = Some(self.recovery().max_session_snapshots);
        let (reason, depth) = (SnapshotReason::Navigation, Depth::Changed);
        self.capture_with(runner, Take { reason, depth, pictures: false, keep }).await.map(drop)
    }

    /// How many tabs of the running browser are not kept, because they are in contexts of their own.
    pub async fn foreign_tabs(&self, id: SessionId) -> Result<usize, LiveError> {
        self.runner(id)?.live.foreign_tabs().await.map_err(|error| ended(id, error))
    }

    /// The tabs of the running browser.
    pub async fn tabs(&self, id: SessionId) -> Result<Vec<Tab>, LiveError> {
        self.runner(id)?.live.tabs().await.map_err(|error| ended(id, error))
    }

    async fn capture_with(
        &self,
        runner: &Runner,
        Take { reason, depth, pictures, keep }: Take,
    ) -> Result<Option<Snapshot>, LiveError> {
        let mut last = runner.last.lock().await;
        let (started, taken_at) = (Instant::now(), Timestamp::now());
        let mut happened = *runner.live.activity().borrow();
        if !pictures && reason == SnapshotReason::Navigation {
            // It is still to be captured with its picture.
            happened.navigations = 0;
        }
        let began = Some(Began::now(happened));
        let captured = runner.live.capture(depth, pictures).await;
        let captured = captured.map_err(|error| ended(runner.session.id, error))?;
        report_unread(runner, &captured);
        let captured = Arc::new(captured);
        let cut = draft(&captured, &last).await?;
        if depth == Depth::Changed && cut.changed.is_empty() && cut.carried.len() == last.len() {
            runner.captured.send_replace(began);
            return Ok(None);
        }
        let shrunk = runner.has_shrunk(reason, &captured.state, taken_at);
        let occasion = Occasion { reason, started, taken_at, shrunk, keep };
        let snapshot = match self.store_draft(runner, occasion, cut).await {
            Err(LiveError::Store(error @ StoreError::PartMissing { .. })) => {
                tracing::error!(session = %runner.session.id, %error, "storing all parts anew");
                let cut = draft(&captured, &[]).await?;
                self.store_draft(runner, occasion, cut).await?
            }
            stored => stored?,
        };
        last.clone_from(&snapshot.parts);
        runner.remember(&snapshot, &captured.state);
        runner.captured.send_replace(began);
        Ok(Some(snapshot))
    }

    /// Takes a snapshot of what a look at the cookies finds, when nothing else is known to have changed:
    /// the cookies alone, with everything else as it is in the last one. Where some are gone, or there is
    /// nothing to go by, everything that changed is captured.
    pub(super) async fn capture_cookies(&self, runner: &Runner) -> Result<(), LiveError> {
        let (reason, keep) =
            (SnapshotReason::Interval, Some(self.recovery().max_session_snapshots));
        let mut last = runner.last.lock().await;
        let (started, taken_at) = (Instant::now(), Timestamp::now());
        let cookies = match runner.live.look_at_cookies().await {
            Jar::Same => return Ok(()),
            Jar::Grown(cookies) if !last.is_empty() && runner.is_watched() => cookies,
            Jar::Grown(_) | Jar::Shrunk => {
                drop(last);
                return self.capture_automatically(runner, reason).await.map(drop);
            }
        };
        let cut = Draft::of_cookies(&cookies, &last);
        let occasion = Occasion { reason, started, taken_at, shrunk: false, keep };
        match self.store_draft(runner, occasion, cut).await {
            Err(LiveError::Store(StoreError::PartMissing { .. })) => {
                drop(last);
                self.capture_automatically(runner, reason).await.map(drop)
            }
            stored => {
                last.clone_from(&stored?.parts);
                runner.remember_cookies(&cookies);
                runner.live.note_cookies(cookies);
                Ok(())
            }
        }
    }

    /// Stores a snapshot.
    async fn store_draft(
        &self,
        runner: &Runner,
        occasion: Occasion,
        draft: Draft,
    ) -> Result<Snapshot, LiveError> {
        let session = &runner.session;
        let Occasion { reason, started, taken_at, shrunk, keep } = occasion;
        let new = NewSnapshot {
            id: SnapshotId::new(taken_at, rand::random()),
            session: session.id,
            owner: session.owner.clone(),
            taken_at,
            reason,
            term: Some(runner.term),
            shrunk,
            sibling: false,
            saved: false,
            parts: draft.changed,
            carried: draft.carried,
            keep,
        };
        let snapshot = self.store().create_snapshot(new).await?;
        if snapshot.sibling {
            self.end(runner, Ending::Kill).await;
            return Err(LiveError::LeaseLost { session: session.id, sibling: snapshot.id });
        }
        metrics::counter!("baton_captures_total", "reason" => reason.as_str()).increment(1);
        metrics::histogram!("baton_capture_seconds").record(started.elapsed().as_secs_f64());
        Ok(snapshot)
    }

    /// Lets the oldest snapshots of a session go. That is not what was asked for, so nothing fails
    /// when it cannot be done; the next capture prunes again.
    pub(super) async fn prune(&self, id: SessionId) {
        let keep = self.recovery().max_session_snapshots;
        if let Err(error) = self.store().prune_snapshots(id, keep).await {
            tracing::warn!(session = %id, %error, "old snapshots were not removed");
        }
    }
}

/// A browser that ended a moment ago, before its runner noticed, is one that does not run.
pub(super) fn ended(id: SessionId, error: CdpError) -> LiveError {
    if error.is_closed() { LiveError::NotActive(id) } else { error.into() }
}

/// What snapshot is to be taken.
struct Take {
    reason: SnapshotReason,
    depth: Depth,
    /// Whether one of the tab in front belongs to it.
    pictures: bool,
    /// How many snapshots stay with it; none lets no old one go.
    keep: Option<u32>,
}

/// When and why a snapshot was taken, and what becomes of it.
#[derive(Clone, Copy)]
struct Occasion {
    reason: SnapshotReason,
    started: Instant,
    taken_at: Timestamp,
    shrunk: bool,
    /// How many snapshots stay with it; none lets no old one go.
    keep: Option<u32>,
}

fn report_unread(runner: &Runner, captured: &Captured) {
    // What is never kept is no fault to look after.
    for unread in captured.unread.iter().filter(|unread| unread.kind.is_none()) {
        tracing::warn!(
            session = %runner.session.id,
            place = unread.place,
            reason = unread.reason,
            "a place could not be read; what was last known of it stands"
        );
    }
}

impl BrowserSupervisor {
    /// The contexts that clients made in the running browser.
    pub async fn contexts(&self, id: SessionId) -> Result<Vec<MadeContext>, LiveError> {
        self.runner(id)?.live.contexts().await.map_err(|error| ended(id, error))
    }

    /// Reads all that a context holds: its cookies, its tabs, and the storage of the sites that they show.
    /// That of other sites no page of it can read, and it has no profile in which it would stand.
    pub(crate) async fn read_context(
        &self,
        id: SessionId,
        context: ContextId,
    ) -> Result<Captured, LiveError> {
        // What is given to the whole browser holds there too; who may what, and how large its pages are,
        // is the context's own.
        let environment = Environment {
            viewport: None,
            permissions: Vec::new(),
            ..self.runner(id)?.live.environment()
        };
        let known = State { environment, ..State::default() };
        let socket = self.config().data.socket(id);
        let reading = async {
            // A client beside others: it leaves with its connection, and the node's own goes on.
            let link = match keeper::connect(&socket, Role::Client).await {
                Err(KeeperError::NotRunning { .. }) => return Err(LiveError::NotActive(id)),
                link => link?,
            };
            let live = Live::start_in(context, link, known).await;
            let live = live.map_err(|error| ended(id, error))?;
            live.capture(Depth::Whole, false).await.map_err(|error| ended(id, error))
        };
        let slow = LiveError::TooSlow { what: "a context to be read", limit: LIMIT };
        tokio::time::timeout(LIMIT, reading).await.unwrap_or(Err(slow))
    }
}
