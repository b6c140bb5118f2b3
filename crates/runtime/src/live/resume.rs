//! Resumes a session, or takes it back: a browser on its own profile, made equal to a snapshot.
//!
//! The one idea: nothing is given up before the new browser is verified. The profile's state is kept beside
//! it, the snapshot is only read, and a resume that fails leaves both as they were. Nothing is lost on the
//! way back either: what the browser held is captured first.

use super::close::Ending;
use super::held::LastHeld;
use super::load::{Loaded, expect_something};
use super::runner::{Runner, SnapshotBaseline};
use super::signed_in::note_browser;
use super::{BrowserSupervisor, LiveError, expect_checked_in};
use crate::latest::Latest;
use crate::table::Hold;
use baton_browser::launch::LockState;
use baton_browser::live::Live;
use baton_browser::profile::KeptProfile;
use baton_browser::restore::{Restored, restore};
use baton_browser::{launch, profile};
use baton_session::cookie::Expiry;
use baton_session::{Lifecycle, Receipt, Session, SessionId, SnapshotId, SnapshotReason, Term};
use baton_store::{Snapshot, StoreError};
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How long a restore may take as a whole; each of its steps has a limit of its own, but a browser
/// that hangs from some point on would spend them all.
pub const RESTORE_LIMIT: Duration = Duration::from_mins(5);

/// How long the first capture may put the answer off.
const FIRST_LIMIT: Duration = Duration::from_secs(10);

/// Measures steps, one after the other.
pub(super) struct Stopwatch {
    start: Instant,
    last: Instant,
    steps: BTreeMap<String, u64>,
}

impl Stopwatch {
    pub(super) fn start(at: Instant) -> Self {
        Self { start: at, last: at, steps: BTreeMap::new() }
    }

    /// Ends a step that began when the last one ended.
    pub(super) fn step(&mut self, name: &str) {
        let time = self.last.elapsed();
        self.add(name, time);
    }

    /// Adds a step that was measured elsewhere.
    fn add(&mut self, name: &str, time: Duration) {
        self.last = Instant::now();
        self.steps.insert(name.to_owned(), millis(time));
    }

    fn end(mut self) -> BTreeMap<String, u64> {
        self.steps.insert("total".to_owned(), millis(self.start.elapsed()));
        self.steps
    }

    /// Ends the last step of a browser that was stopped, and says what each took.
    pub(super) fn tell_stopped(mut self, session: SessionId) {
        self.step("end");
        let steps = self.end();
        tracing::info!(%session, ?steps, "the browser of a session was stopped");
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// What a resume did.
#[derive(Debug)]
pub struct Resumed {
    /// From which snapshot.
    pub snapshot: SnapshotId,
    /// Item by item.
    pub receipt: Receipt,
    /// Milliseconds of each step.
    pub timing: BTreeMap<String, u64>,
}

impl BrowserSupervisor {
    /// Checks that a browser could be started for a session: one is found, there is room for it, and no other
    /// container or machine has one on its profile. Changes nothing.
    pub(crate) async fn expect_startable(&self, id: SessionId) -> Result<(), LiveError> {
        self.program()?;
        self.expect_room(id)?;
        match launch::lock::check(&self.config().data.profile(id))? {
            LockState::OtherHost { .. } => self.wait_until_unclaimed(id).await,
            // One of this machine is ended, if it is ours.
            LockState::Free | LockState::DeadSameHost | LockState::InUse { .. } => Ok(()),
        }
    }

    /// Checks that a closed session may have its name back. Asked before anything is begun: a resume
    /// that is undone has shown its cookies to real sites.
    pub(crate) async fn expect_its_name(&self, session: &Session) -> Result<(), LiveError> {
        let name = session.name.to_string();
        match self.store().find_session(&session.owner, &name).await {
            Ok(bearer) if bearer.id != session.id && bearer.lifecycle.holds_name() => {
                Err(StoreError::NameTaken { name }.into())
            }
            Ok(_) | Err(StoreError::SessionNotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Checks that a session has a snapshot that can be read.
    pub(crate) async fn expect_snapshot(&self, id: SessionId) -> Result<(), LiveError> {
        self.last_good(id).await?.ok_or(LiveError::NoSnapshot(id)).map(drop)
    }

    /// Loads the last good snapshot of a session that can be read.
    pub async fn load_last_good(&self, session: &Session) -> Result<Loaded, LiveError> {
        let found = self.last_good(session.id).await?.ok_or(LiveError::NoSnapshot(session.id))?;
        self.load_whole(session, found, &[]).await
    }

    /// Starts a browser for a session that this node holds in `term`, brings back what was loaded, and
    /// moves its row to active.
    pub(crate) async fn start(
        &self,
        hold: &Hold,
        session: &Session,
        term: Term,
        loaded: Loaded,
    ) -> Result<Resumed, LiveError> {
        expect_checked_in(hold)?;
        if self.runner(session.id).is_ok() {
            return Err(LiveError::AlreadyActive(session.id));
        }
        let _place = self.take_place(session.id)?;
        let resumed = self.resume_held(session, term, loaded).await;
        if resumed.is_err() {
            metrics::counter!("baton_resumes_total", "outcome" => "failed").increment(1);
        }
        resumed
    }

    /// Counts a start that failed, if that was the session's fault.
    pub(crate) async fn count_failure(&self, hold: &Hold, error: &LiveError) {
        if matches!(error, LiveError::Store(_) | LiveError::NoRoom(_)) {
            return;
        }
        let (id, node, now) = (hold.id(), self.config().node, Timestamp::now());
        match self.store().note_failed_resume(id, node, now).await {
            Ok(lifecycle) => tracing::warn!(session = %id, %lifecycle, "a resume failed"),
            Err(error) => {
                tracing::warn!(session = %id, %error, "a resume that failed was not noted");
            }
        }
    }

    async fn resume_held(
        &self,
        session: &Session,
        term: Term,
        mut loaded: Loaded,
    ) -> Result<Resumed, LiveError> {
        let mut clock = Stopwatch::start(loaded.began);
        clock.step("load");
        let kept = self.prepare_profile(session).await?;
        clock.step("keep");
        let (live, items) = self.bring_back(session, term, &mut loaded, kept, &mut clock).await?;
        let active = self.activate(session).await?;
        let known = SnapshotBaseline {
            last: std::mem::take(&mut loaded.good),
            held: Some(LastHeld::restored(std::mem::take(&mut loaded.held))),
        };
        let runner = self.watch(active, term, live, known);
        self.table().arrives(session.id);
        self.record_if_asked(&runner.session, false).await;
        clock.step("watch");
        let Loaded { snapshot, mut receipt, .. } = loaded;
        self.note_profile(session.id, term, Some(snapshot)).await;
        self.capture_at_once(&runner).await?;
        clock.step("capture");
        receipt.extend(items);
        let now = Timestamp::now();
        // The session is back: the caller gets a receipt that cannot be stored all the same.
        if let Err(error) = self.store().create_receipt(session.id, snapshot, now, &receipt).await {
            tracing::error!(session = %session.id, %error, "a receipt was not stored");
        }
        let outcome = if receipt.has_losses() { "losses" } else { "whole" };
        metrics::counter!("baton_resumes_total", "outcome" => outcome).increment(1);
        Ok(Resumed { snapshot, receipt, timing: clock.end() })
    }

    /// Captures what the sites made of the state as their tabs loaded: a token that works once is spent by
    /// now, and a session that is killed next must not come back with it. A capture that fails or takes too
    /// long is left to those that follow, as long as the browser is ours.
    async fn capture_at_once(&self, runner: &Runner) -> Result<(), LiveError> {
        let captured = self.capture_first(runner);
        let too_slow = LiveError::TooSlow { what: "the first capture", limit: FIRST_LIMIT };
        match timeout(FIRST_LIMIT, captured).await.unwrap_or(Err(too_slow)) {
            Ok(()) => Ok(()),
            Err(error @ LiveError::LeaseLost { .. }) => Err(error),
            Err(error) => {
                let session = runner.session.id;
                tracing::warn!(%session, %error, "what a resume brought back is not captured yet");
                Ok(())
            }
        }
    }

    /// Makes sure that no browser holds the profile, and keeps its state beside it.
    async fn prepare_profile(&self, session: &Session) -> Result<KeptProfile, LiveError> {
        let id = session.id;
        self.create_files(id)?;
        self.end_keeper(id, Ending::Close).await;
        self.wait_for_profile(id).await?;
        let profile = self.config().data.profile(id);
        self.blocking(move || profile::keep(&profile)).await
    }

    /// Everything between the copy of the profile and the moment when it is verified. The copy goes
    /// before the session becomes active: one that outlived that would be put back, long out of
    /// date, by the next resume.
    async fn bring_back(
        &self,
        session: &Session,
        term: Term,
        loaded: &mut Loaded,
        kept: KeptProfile,
        clock: &mut Stopwatch,
    ) -> Result<(Live, Receipt), LiveError> {
        let restored = self.restore(session, term, loaded, clock);
        let restored = timeout(RESTORE_LIMIT, restored);
        let timed_out = LiveError::TooSlow { what: "the restore to end", limit: RESTORE_LIMIT };
        let restored = match restored.await.unwrap_or(Err(timed_out)) {
            Ok(restored) => restored,
            Err(error) => {
                self.undo(session, kept).await;
                return Err(error);
            }
        };
        match self.blocking(move || kept.discard()).await {
            Ok(()) => Ok(restored),
            Err(error) => {
                self.end_keeper(session.id, Ending::Close).await;
                Err(error)
            }
        }
    }

    /// Moves the row of a session whose browser is back.
    async fn activate(&self, session: &Session) -> Result<Session, LiveError> {
        let (id, node, from) = (session.id, self.config().node, session.lifecycle);
        let moved = self
            .store()
            .update_lifecycle(id, node, from, Lifecycle::Active, Timestamp::now())
            .await;
        if moved.is_err() {
            self.end_keeper(id, Ending::Close).await;
        }
        Ok(moved?)
    }

    /// Starts a browser on the profile and gives it the state.
    async fn restore(
        &self,
        session: &Session,
        term: Term,
        loaded: &mut Loaded,
        clock: &mut Stopwatch,
    ) -> Result<(Live, Receipt), LiveError> {
        let ground = self.ground(session, loaded).await?;
        clock.step("profile");
        let mut state = std::mem::take(&mut loaded.state);
        let refused = self.write_raw(session.id, &mut state).await?;
        let permissions = &mut state.environment;
        let given = self.give_permissions(session.id, permissions, ground.as_ref()).await?;
        let trusted = self.give_certificates(session.id, &state.environment).await?;
        let _told = self.start_browser(session, &state.environment).await?;
        clock.step("launch");
        let link = self.connect_to(session.id).await?;
        // What cannot be made whole comes back as it is, and the receipt says so.
        let environment = state.environment.clone();
        if let Ok(whole) = self.make_whole(&link, environment).await {
            state.environment = whole;
        }
        let version = &link.welcome.browser_version;
        let other = note_browser(&mut state.environment, version, &session.name);
        let now = Expiry(Timestamp::now().as_microsecond());
        let mut restored = restore(link, state, now, ground.as_ref()).await?;
        given.tell(&mut restored);
        trusted.tell(&mut restored);
        let Restored { mut receipt, timing, state, .. } = restored;
        receipt.extend(refused);
        receipt.extend(other.into_iter().collect());
        receipt.sort();
        for (name, time) in timing {
            clock.add(name, time);
        }
        let link = self.connect_to(session.id).await?;
        let live = self.on_its_profile(session, Live::start(link, state).await?);
        if loaded.goes_back {
            loaded.snapshot = self.go_back(session, term, loaded).await?;
        }
        Ok((live, receipt))
    }

    /// A resume failed: ends what was started, and puts the profile back as it was.
    async fn undo(&self, session: &Session, kept: KeptProfile) {
        self.end_keeper(session.id, Ending::Kill).await;
        let put_back = async {
            self.wait_for_profile(session.id).await?;
            self.blocking(move || kept.put_back().and_then(|()| kept.discard())).await
        };
        if let Err(error) = put_back.await {
            tracing::error!(session = %session.id, %error, "the profile was not put back; the copy beside it is kept");
        }
    }
}

impl BrowserSupervisor {
    /// Loads the snapshot `to` of a session, to go back to it: that one and no other, as far as it can be
    /// read. Fails with `SnapshotDamaged` when nothing of it can.
    pub(crate) async fn load_to_go_back(
        &self,
        session: &Session,
        to: Snapshot,
    ) -> Result<Loaded, LiveError> {
        let began = Instant::now();
        let read = Box::pin(self.read_snapshot(session, &to, &[])).await?;
        expect_something(&to, &read)?;
        let found = Latest { snapshot: to, damaged: None, passed_over: None };
        let loaded = Loaded::of(began, found, read, Receipt::default());
        Ok(Loaded { goes_back: true, is_newest: false, ..loaded })
    }

    /// Captures what the browser of an active session holds, and ends it. Returns the lifecycle that the
    /// session has then.
    pub(crate) async fn stop(&self, hold: &Hold) -> Result<Lifecycle, LiveError> {
        if let Ok(runner) = self.runner(hold.id()) {
            let mut clock = Stopwatch::start(Instant::now());
            // No client accepted what it holds: it may be the reason for going back.
            self.capture_last(&runner, SnapshotReason::Shutdown).await?;
            clock.step("capture");
            self.end(&runner, Ending::Close).await;
            clock.tell_stopped(hold.id());
        }
        self.mark_dead(hold.id()).await
    }
}
