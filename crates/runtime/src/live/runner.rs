//! One running browser: the task that decides when to capture, and notices when the browser ends.
//!
//! Never clobber: a state that lost most of what it held does not take the place of a good one. A runner
//! remembers what the last good snapshot held, so that each automatic capture can be judged without a look at
//! the database. What is missing when a browser that was started is read for the first time is lost; what
//! goes from then on a person or a site removed, and what a client asked for is accepted as it is: so a
//! sign-out is respected.

use super::held::LastHeld;
use super::lease::Whereabouts;
use super::load::Loaded;
use super::policy::{Began, Due, Policy};
use super::sign_ins::{SignInWatch, Watched};
use super::{BrowserSupervisor, LiveError, RecoverySettings};
use baton_browser::capture::Captured;
use baton_browser::live::Live;
use baton_session::login::SignIns;
use baton_session::{
    Cookie, Holdings, Lifecycle, PartRef, Session, SessionId, SnapshotId, SnapshotReason, State,
    Term,
};
use baton_store::clock::uptime;
use baton_store::{NewSnapshot, Snapshot, Store, StoreError};
use jiff::Timestamp;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;

/// When the end of a connection that the database would not take is noted again.
const NOTE_AGAIN: Duration = Duration::from_secs(5);

/// One running browser of this node.
pub(super) struct Runner {
    pub(super) session: Session,
    /// The term in which this node holds it.
    pub(super) term: Term,
    pub(super) live: Live,
    /// The parts of the last snapshot. Held for the length of a capture, so that there is one at a time.
    pub(super) last: Mutex<Vec<PartRef>>,
    /// What the last good snapshot held.
    pub(super) held: std::sync::Mutex<LastHeld>,
    /// What is known of the sign-ins in it.
    pub(super) sign_ins: Mutex<SignInWatch>,
    /// How much had happened when the last capture that succeeded began, for the task.
    pub(super) captured: watch::Sender<Option<Began>>,
    /// Ends the task, before the browser is ended on purpose.
    pub(super) leave: CancellationToken,
}

/// What is known of a browser's snapshots when we begin to watch it.
#[derive(Default)]
pub(super) struct SnapshotBaseline {
    /// The parts of the last snapshot.
    pub(super) last: Vec<PartRef>,
    /// What the last good snapshot held, by which the next one is judged.
    pub(super) held: Option<LastHeld>,
}

impl BrowserSupervisor {
    /// Registers a running browser and starts the task that watches it.
    pub(super) fn watch(
        &self,
        session: Session,
        term: Term,
        live: Live,
        SnapshotBaseline { last, held }: SnapshotBaseline,
    ) -> Arc<Runner> {
        let runner = Arc::new(Runner {
            session,
            term,
            live,
            last: Mutex::new(last),
            held: std::sync::Mutex::new(
                held.unwrap_or_else(|| LastHeld::watched(Holdings::default())),
            ),
            sign_ins: Mutex::default(),
            captured: watch::Sender::default(),
            leave: CancellationToken::new(),
        });
        self.runners().insert(runner.session.id, Arc::clone(&runner));
        self.count();
        self.0.tasks.spawn(run(self.clone(), Arc::clone(&runner)));
        runner
    }

    /// Forgets a browser, and ends the task that watches it.
    pub(super) fn forget(&self, id: SessionId) {
        if let Some(runner) = self.runners().remove(&id) {
            runner.leave.cancel();
        }
        self.stop_recording(id);
        self.count();
    }

    #[expect(clippy::cast_precision_loss, reason = "a gauge; nobody runs 2^53 browsers")]
    fn count(&self) {
        let active = self.active();
        metrics::gauge!("baton_sessions_active").set(active as f64);
        self.0.number.send_if_modified(|number| std::mem::replace(number, active) != active);
    }
}

async fn run(supervisor: BrowserSupervisor, runner: Arc<Runner>) {
    let (mut activity, mut moves) = (runner.live.activity(), runner.live.moves());
    let mut downloads = runner.live.downloads();
    let mut captured = runner.captured.subscribe();
    let mut settings = supervisor.config().recovery.clone();
    let RecoverySettings { session_snapshot_interval, capture_on_input, .. } =
        settings.borrow_and_update().clone();
    let mut policy = Policy::new(session_snapshot_interval, Instant::now());
    if capture_on_input {
        runner.live.tell_input(true).await;
    }
    policy.note(*activity.borrow_and_update(), Instant::now());
    loop {
        if runner.live.is_loading() {
            policy.may_answer(Instant::now());
        }
        let (at, due) = policy.next();
        tokio::select! {
            // An end on purpose closes the connection as well: it must be seen first.
            biased;
            () = runner.leave.cancelled() => return,
            () = runner.live.closed() => return connection_ended(&supervisor, &runner).await,
            Ok(()) = captured.changed() => {
                if let Some(began) = *captured.borrow_and_update() {
                    policy.captured(began, Instant::now());
                }
            }
            Ok(()) = moves.changed() => policy.note(*activity.borrow(), Instant::now()),
            // A page that never rests wakes no policy that knows of it.
            Ok(()) = activity.changed(), if !policy.knows_of_writes() => {
                let now = *activity.borrow_and_update();
                policy.note(now, Instant::now());
            }
            // Who looks at the session's files sees it at once.
            Ok(()) = downloads.changed() => supervisor.store().tell(runner.session.id),
            Ok(()) = settings.changed() => {
                let now = settings.borrow_and_update().clone();
                policy.set_interval(now.session_snapshot_interval);
                runner.live.tell_input(now.capture_on_input).await;
            }
            () = tokio::time::sleep_until(at.into()) => match due {
                Due::Capture(reason) => capture(&supervisor, &runner, reason, &mut policy).await,
                Due::Look => capture_unannounced(&supervisor, &runner, &mut policy).await,
                Due::LookAtCookies => look_at_cookies(&supervisor, &runner, &mut policy).await,
            },
        }
    }
}

/// Looks whether something changed of which no event tells, and captures it at once.
async fn capture_unannounced(supervisor: &BrowserSupervisor, runner: &Runner, policy: &mut Policy) {
    let began = Instant::now();
    if runner.live.changed_unheard().await {
        capture(supervisor, runner, SnapshotReason::Interval, policy).await;
    } else {
        policy.looked(began, Instant::now());
    }
}

/// Looks whether cookies changed, and captures those at once.
async fn look_at_cookies(supervisor: &BrowserSupervisor, runner: &Runner, policy: &mut Policy) {
    let began = Instant::now();
    match unless_left(runner, supervisor.capture_cookies(runner)).await {
        Some(Ok(())) => policy.looked_at_cookies(began, Instant::now()),
        Some(Err(error)) => failed(runner, &error, policy),
        None => {}
    }
}

/// An automatic capture. One that fails is tried again after the interval.
async fn capture(
    supervisor: &BrowserSupervisor,
    runner: &Runner,
    reason: SnapshotReason,
    policy: &mut Policy,
) {
    let captured = unless_left(runner, supervisor.capture_automatically(runner, reason)).await;
    if let Some(Err(error)) = captured {
        failed(runner, &error, policy);
    }
}

/// What a capture came to; none when a close began in the meantime, which takes a snapshot of its own.
async fn unless_left<T>(runner: &Runner, capture: impl Future<Output = T>) -> Option<T> {
    runner.leave.run_until_cancelled(capture).await
}

fn failed(runner: &Runner, error: &LiveError, policy: &mut Policy) {
    policy.failed(Instant::now());
    if !runner.live.is_closed() {
        tracing::warn!(session = %runner.session.id, %error, "a capture failed; the last snapshot stands");
    }
}

/// The connection ended by itself. As a rule the browser did, and the session can be resumed from its
/// last snapshot. A keeper that found us too slow has only hung up: then the browser runs on.
async fn connection_ended(supervisor: &BrowserSupervisor, runner: &Runner) {
    let id = runner.session.id;
    if runner.leave.is_cancelled() {
        return;
    }
    supervisor.forget(id);
    let ended_with_lease = supervisor.lost_its_lease();
    while supervisor.runner(id).is_err() {
        match supervisor.look_at(&runner.session).await {
            Ok(Whereabouts::Elsewhere(node)) => {
                tracing::warn!(session = %id, %node, "a browser ended with its lease; another node has the session now");
                return;
            }
            Ok(Whereabouts::Here(lifecycle)) => {
                tracing::warn!(session = %id, %lifecycle, "the connection to a browser ended by itself");
                if ended_with_lease && lifecycle == Lifecycle::Recoverable {
                    supervisor.bequeath(runner.session.clone());
                }
                return;
            }
            Err(LiveError::Store(
                StoreError::SessionNotFound { .. } | StoreError::HeldElsewhere { .. },
            )) => return,
            // The operation that holds the session may move its row, or may only look at it.
            Err(LiveError::Busy(_)) => {}
            Err(error) => {
                tracing::error!(session = %id, %error, "the end of a connection could not be noted");
            }
        }
        if supervisor.0.tasks.is_closed() {
            return;
        }
        tokio::time::sleep(NOTE_AGAIN).await;
    }
}

impl Runner {
    /// Whether a capture of `state` has shrunk, and no client asked for it.
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
                LastHeld::watched(Holdings::of(state));
        }
    }

    /// Remembers cookies that are held besides what the last good snapshot held.
    pub(super) fn remember_cookies(&self, cookies: &[Cookie]) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).add_cookies(cookies);
    }

    /// What sign-ins have changed by a capture that follows a snapshot with the parts `last`.
    pub(super) async fn sign_ins(
        &self,
        store: &Store,
        last: &[PartRef],
        captured: &Arc<Captured>,
        at: Timestamp,
    ) -> SignIns {
        let watched = Watched { store, session: &self.session, live: &self.live };
        self.sign_ins.lock().await.weigh(watched, last, captured, at).await
    }

    /// Whether the browser has been read since it was started.
    pub(super) fn is_watched(&self) -> bool {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).is_watched()
    }
}

impl BrowserSupervisor {
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
            // No client has looked at the pictures yet, and they are not worth failing for.
            Err(StoreError::PartMissing { kind, .. }) if kind.is_picture() => {
                let rest = loaded.good.iter().filter(|part| !part.kind.is_picture());
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
            sibling: false,
            saved: false,
            parts: Vec::new(),
            carried,
            keep: None,
        };
        Ok(self.store().create_snapshot(new).await?.id)
    }
}
