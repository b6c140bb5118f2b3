//! Prepares profiles before a caller asks for them: of sessions that were imported, arrived, were closed, or
//! came back from a sandbox.
//!
//! The one idea: a session that does not run stays as it is until it is handed in, so what is made of it now
//! is what a sandbox needs then. Of one that runs nothing is made, because it changes all the time. One
//! session after the other, when no caller asks this node for anything, and only on nodes of which sandboxes
//! are wanted.

use crate::Agents;
use crate::settings::Prepare;
use baton_browser::profile::at_rest::Instant as At;
use baton_runtime::Activity;
use baton_session::{Lifecycle, Session, SessionId, SnapshotReason};
use baton_store::{StoreError, clock};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};

/// How long no caller asked for anything when one is prepared.
const QUIET: Duration = Duration::from_millis(200);
/// How long that is waited for: then it is done while others are served, who go first.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many of the sessions that changed last are prepared at the start.
const AT_THE_START: u32 = 16;
/// How often what is kept is compared with what there is: other nodes do not tell us what they change.
const COMPARED: Duration = Duration::from_mins(1);

/// Begins to prepare profiles, until the node ends.
pub fn start(context: &Agents) {
    let changes = context.store.listen();
    let preparer = Preparer { context: context.clone(), waiting: Waiting::new() };
    let ending = context.ending.clone();
    context.tasks.spawn(async move {
        ending.run_until_cancelled(Box::pin(preparer.run(changes))).await;
    });
}

struct Preparer {
    context: Agents,
    waiting: Waiting,
}

impl Preparer {
    async fn run(mut self, mut changes: Receiver<SessionId>) {
        let sandboxes = self.context.sandboxes.clone();
        let mut is_wanted = self.enqueue_recent().await;
        let mut compared = interval(COMPARED);
        compared.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                change = changes.recv() => match change {
                    Ok(session) => self.review(session).await,
                    Err(RecvError::Lagged(_)) => self.compare().await,
                    Err(RecvError::Closed) => return,
                },
                () = sandboxes.wanted(), if !is_wanted => {
                    is_wanted = true;
                    self.wait_with_latest().await;
                }
                _ = compared.tick() => self.compare().await,
                () = quiet(&self.context.activity, self.waiting.since()) => self.prepare().await,
            }
        }
    }

    /// Whether sandboxes were wanted of this node before: then those who changed last wait.
    async fn enqueue_recent(&mut self) -> bool {
        let sandboxes = self.context.sandboxes.clone();
        if sandboxes.settings().prepare == Prepare::Used && sandboxes.can_prepare() {
            let resting = self.latest().await;
            let ids: Vec<_> = resting.iter().map(|session| session.id).collect();
            let checked_out =
                self.context.store.has_snapshot_of(&ids, SnapshotReason::Sandbox).await;
            if checked_out.unwrap_or_else(|error| log_and_skip(&error)) {
                sandboxes.note_use();
            }
        }
        if sandboxes.prepares() {
            self.wait_with_latest().await;
        }
        sandboxes.prepares()
    }

    async fn wait_with_latest(&mut self) {
        for session in self.latest().await {
            self.waiting.push(session.id);
        }
    }

    async fn latest(&self) -> Vec<Session> {
        let found = self.context.store.list_resting_sessions(self.context.node, AT_THE_START).await;
        found.unwrap_or_else(|error| log_and_skip(&error))
    }

    /// Looks what became of a session.
    async fn review(&mut self, id: SessionId) {
        let (supervisor, prepares) = (&self.context.supervisor, self.context.sandboxes.prepares());
        // What runs is prepared once it is closed.
        if !supervisor.holds(id) && (prepares || supervisor.compiled().sessions().contains(&id)) {
            match self.resting(id).await {
                Some(_) if prepares => self.waiting.push(id),
                Some(session) => {
                    if let Err(error) = supervisor.drop_outdated(&session).await {
                        tracing::debug!(session = %id, %error, "what is kept of a session stays");
                    }
                }
                None => {}
            }
        }
    }

    /// A session of this node that does not run. What was kept of one that is gone goes, too.
    async fn resting(&self, id: SessionId) -> Option<Session> {
        let found = match self.context.store.fetch_any_session(id).await {
            Ok(found) => found.filter(|session| session.node == self.context.node),
            Err(error) => return log_and_skip(&error),
        };
        if found.is_none() {
            self.context.supervisor.compiled().forget(id, None);
        }
        found.filter(|session| session.lifecycle != Lifecycle::Active)
    }

    /// Prepares the one that waits longest.
    async fn prepare(&mut self) {
        let Some(id) = self.waiting.pop() else { return };
        let Some(session) = self.resting(id).await else { return };
        let (begun, scratch) = (Instant::now(), self.context.sandboxes.scratch().clone());
        match self.context.supervisor.prepare(&session, scratch).await {
            Ok(true) => {
                let took_ms = begun.elapsed().as_secs_f64() * 1e3;
                let kept = self.context.supervisor.compiled().used();
                tracing::info!(session = %id, took_ms, kept, "prepared a session for a sandbox");
            }
            Ok(false) => tracing::debug!(session = %id, "nothing to prepare of a session"),
            Err(error) => tracing::warn!(session = %id, %error, "a session was not prepared"),
        }
    }

    /// Compares what is kept with what there is.
    async fn compare(&mut self) {
        let cache = self.context.supervisor.compiled().clone();
        let mut sessions = cache.drop_over(At(clock::now().as_microsecond()));
        sessions.append(&mut cache.sessions());
        for session in sessions {
            self.review(session).await;
        }
    }
}

/// Returns when no caller has asked this node for anything for a moment, or what waits has waited long
/// enough.
async fn quiet(activity: &Activity, since: Option<Instant>) {
    let Some(since) = since else { return std::future::pending().await };
    loop {
        let missing = QUIET.saturating_sub(activity.quiet());
        if missing.is_zero() || since.elapsed() >= PATIENCE {
            return;
        }
        sleep(missing).await;
    }
}

/// What is prepared can be made later: a database that does not answer is no reason to stop.
fn log_and_skip<T: Default>(error: &StoreError) -> T {
    tracing::debug!(%error, "the database does not answer; nothing is prepared");
    T::default()
}

/// How many wait at most. One that there is no room for is made when a caller asks for it.
const MOST: usize = 64;

/// Sessions that wait, the one that changed last behind all others.
#[derive(Debug)]
struct Waiting {
    sessions: VecDeque<SessionId>,
    /// Since when the first one is the first.
    since: Instant,
}

impl Waiting {
    fn new() -> Self {
        Self { sessions: VecDeque::new(), since: Instant::now() }
    }

    /// One more, or one that changed once more.
    fn push(&mut self, session: SessionId) {
        if self.sessions.is_empty() {
            self.since = Instant::now();
        }
        self.sessions.retain(|waiting| *waiting != session);
        if self.sessions.len() == MOST {
            self.sessions.pop_front();
        }
        self.sessions.push_back(session);
    }

    fn pop(&mut self) -> Option<SessionId> {
        self.since = Instant::now();
        self.sessions.pop_front()
    }

    /// Since when the first one waits; none when none does.
    fn since(&self) -> Option<Instant> {
        (!self.sessions.is_empty()).then_some(self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: u8) -> SessionId {
        SessionId::new(jiff::Timestamp::UNIX_EPOCH, [number; 10])
    }

    #[test]
    fn each_waits_once_and_not_too_many_do() {
        let mut waiting = Waiting::new();
        assert!(waiting.since().is_none());
        for number in [1, 2, 1] {
            waiting.push(session(number));
        }
        assert!(waiting.since().is_some());
        assert_eq!([(); 3].map(|()| waiting.pop()), [Some(session(2)), Some(session(1)), None]);
        (0..=64).for_each(|number| waiting.push(session(number)));
        assert_eq!(waiting.pop(), Some(session(1)), "the first one gave way");
        assert_eq!(std::iter::from_fn(|| waiting.pop()).count(), 63);
    }
}
