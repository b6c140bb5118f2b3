//! Holding sessions: the beat of this node, and what becomes of its browsers when it stops.
//!
//! The one idea: a node that shares a database must keep saying that it lives, and its browsers live only as
//! long as it does. Each beat that reached the database gives them three quarters of a lease more; others may
//! take a session when they have seen the beat stand still for a whole one. Both are counted by clocks that
//! cannot be set. A node that has its database for itself needs none of this: its browsers outlive it for as
//! long as they like.
//!
//! Nothing waits for anything else here: the beat waits for the database only, the look at other nodes is a
//! task of its own, and so is each keeper, which hears of a beat as soon as it has answered the one before.
//! One that hangs costs its own session alone.

use super::{BrowserSupervisor, LiveError};
use baton_browser::cdp::Connection;
use baton_browser::keeper;
use baton_browser::keeper::{Beats, BootInstant};
use baton_session::{Lifecycle, NodeId, Session, SessionId, Term};
use baton_store::{NodeBeat, NodeRecord, StoreError};
use jiff::{SignedDuration, Timestamp};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, watch};
use tokio::time::{Interval, MissedTickBehavior, interval_at, sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::AbortOnDropHandle;

/// How often it is looked whether a beat came in time.
const LOOK: Duration = Duration::from_millis(500);
/// How often other nodes are looked at, at least, where what they hold is brought back once they fall silent.
const FAILOVER_LOOK: Duration = Duration::from_secs(1);
/// How long what is to start waits for a beat that is late.
const BEAT_LIMIT: Duration = Duration::from_secs(5);
/// How long ago a lease may have ended whose session another node was to bring back, and did not.
pub(super) const LAPSED: SignedDuration = SignedDuration::from_mins(15);
/// How many of these are taken over of one node.
const MOST_LAPSED: u32 = 1000;
/// How many sessions of silent nodes wait to be resumed here, one after the other.
const INHERITED: usize = 4096;

/// What this node knows of its own life and that of others. Its clocks start when it is made.
pub(super) struct Heartbeat {
    /// When the last beat that reached the database began.
    renewed: watch::Sender<BootInstant>,
    /// The beats of all nodes, and since when each has not changed.
    seen: Mutex<HashMap<NodeId, ObservedBeat>>,
    /// Who resumes what a silent node held, if anybody does.
    heir: OnceLock<mpsc::Sender<Session>>,
    /// What gives a keeper more time at every beat, also while its session is still being opened.
    givers: Mutex<HashMap<SessionId, AbortOnDropHandle<()>>>,
    /// Ends the beat: when the node has captured what it holds, and not before.
    over: CancellationToken,
}

/// Who wants a session to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taker {
    /// Its owner, who may have so many of them.
    Owner,
    /// The node by itself: it brings back what ran before.
    Node,
}

/// What a look at a session that was active here found.
pub(super) enum Whereabouts {
    /// It is this node's, and stands there now.
    Here(Lifecycle),
    /// Another node has it by now.
    Elsewhere(NodeId),
}

pub(super) struct ObservedBeat {
    beat: i64,
    pub(super) since: Instant,
    pub(super) lease: Option<Duration>,
    /// Whether it fell silent, and nothing of it is active any more.
    is_settled: bool,
}

impl Default for Heartbeat {
    fn default() -> Self {
        Self {
            renewed: watch::Sender::new(BootInstant::now()),
            seen: Mutex::default(),
            heir: OnceLock::new(),
            givers: Mutex::default(),
            over: CancellationToken::new(),
        }
    }
}

impl Heartbeat {
    pub(super) fn seen(&self) -> MutexGuard<'_, HashMap<NodeId, ObservedBeat>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn givers(&self) -> MutexGuard<'_, HashMap<SessionId, AbortOnDropHandle<()>>> {
        self.givers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a beat that reached the database, for all who wait for one.
    fn renew(&self, began: BootInstant) {
        self.renewed.send_replace(began);
        self.givers().retain(|_, giver| !giver.is_finished());
    }

    fn note(&self, nodes: Vec<NodeBeat>, now: Instant) {
        let mut seen = self.seen();
        for NodeBeat { node, beat } in nodes {
            let known = seen.get(&node.id).filter(|known| known.beat == beat);
            let since = known.map_or(now, |known| known.since);
            let is_settled = known.is_some_and(|known| known.is_settled);
            seen.insert(node.id, ObservedBeat { beat, since, lease: node.lease, is_settled });
        }
    }

    /// The nodes that fell silent and may have left something active, with their last beats.
    fn left(&self) -> Vec<(NodeId, i64)> {
        let seen = self.seen();
        let left = seen.iter().filter(|(_, seen)| !seen.is_settled && seen.is_silent());
        left.map(|(node, seen)| (*node, seen.beat)).collect()
    }

    /// The nodes that fell silent.
    fn all_silent(&self) -> Vec<NodeId> {
        let seen = self.seen();
        seen.iter().filter(|(_, seen)| seen.is_silent()).map(|(node, _)| *node).collect()
    }

    /// Notes that nothing of a node is active, unless it beat again.
    fn settle(&self, node: NodeId, beat: i64) {
        if let Some(seen) = self.seen().get_mut(&node).filter(|seen| seen.beat == beat) {
            seen.is_settled = true;
        }
    }

    /// The beat of a node that has stood still for longer than its leases last.
    pub(super) fn silent(&self, node: NodeId) -> Option<i64> {
        let seen = self.seen();
        seen.get(&node).filter(|found| found.is_silent()).map(|found| found.beat)
    }
}

impl ObservedBeat {
    fn is_silent(&self) -> bool {
        self.lease.is_some_and(|lease| self.since.elapsed() > lease)
    }
}

impl BrowserSupervisor {
    /// Registers this node, and beats, if others may use the database too, until what this returns is
    /// dropped or [`shut_down`](Self::shut_down) has captured everything. When it finds that another node
    /// took its place, it cancels `shutdown`.
    pub async fn start_beating(&self, shutdown: CancellationToken) -> Result<DropGuard, LiveError> {
        let record = NodeRecord {
            id: self.config().node,
            place: self.config().place.clone(),
            lease: self.config().lease,
        };
        self.expect_no_twin(&record).await?;
        let began = BootInstant::now();
        self.store().register_node(&record).await?;
        self.0.heartbeat.renew(began);
        let over = self.0.heartbeat.over.clone();
        if let Some(lease) = record.lease {
            self.observe().await;
            let (beat, look) = (
                beat(self.clone(), record, lease / 4, shutdown),
                watch_leases(self.clone(), look_pause(lease, self.config().failover)),
            );
            self.0.tasks.spawn(over.clone().run_until_cancelled_owned(beat));
            self.0.tasks.spawn(over.clone().run_until_cancelled_owned(look));
        }
        Ok(over.drop_guard())
    }

    /// Ends the beat: from now on nothing is held any longer than the last one allows.
    pub(super) fn stop_beating(&self) {
        self.0.heartbeat.over.cancel();
        self.0.heartbeat.givers().clear();
    }

    /// A copy of a data folder bears the name of the original, which may still run.
    async fn expect_no_twin(&self, own: &NodeRecord) -> Result<(), LiveError> {
        let Some(first) = self.record_of(own.id).await? else { return Ok(()) };
        let Some(lease) = first.node.lease.filter(|_| first.node.place != own.place) else {
            return Ok(());
        };
        tracing::warn!(
            place = first.node.place,
            "this node ran elsewhere; waiting for a lease to end"
        );
        let begun = Instant::now();
        while begun.elapsed() <= lease {
            sleep(lease / 8).await;
            if self.record_of(own.id).await?.is_none_or(|now| now.beat != first.beat) {
                return Err(LiveError::Twin { node: own.id, place: first.node.place });
            }
        }
        Ok(())
    }

    async fn record_of(&self, id: NodeId) -> Result<Option<NodeBeat>, LiveError> {
        Ok(self.store().list_nodes().await?.into_iter().find(|found| found.node.id == id))
    }

    /// Looks at the beats of all nodes.
    pub(super) async fn observe(&self) {
        match self.store().list_nodes().await {
            Ok(nodes) => self.0.heartbeat.note(nodes, Instant::now()),
            Err(error) => tracing::warn!(%error, "the other nodes could not be looked at"),
        }
    }

    /// What its keepers hear of this node; none where they do not need it.
    pub(super) fn beats(&self) -> Option<Beats> {
        let lease = self.config().lease?;
        Some(Beats::new(self.0.heartbeat.renewed.subscribe(), granted(lease)))
    }

    /// Until when browsers may live without another beat; none means for ever.
    pub(super) fn hold_until(&self) -> Option<BootInstant> {
        let lease = self.config().lease?;
        Some(until(*self.0.heartbeat.renewed.borrow(), lease))
    }

    /// Whether what this node held has ended by now because no beat reached the database.
    pub(super) fn lost_its_lease(&self) -> bool {
        self.hold_until().is_some_and(|until| until <= BootInstant::now())
    }

    /// Waits until this node can no longer say that it holds what it holds, because no beat reached the
    /// database; for ever where it has the database for itself.
    pub async fn lost(&self) {
        loop {
            match self.hold_until() {
                None => std::future::pending().await,
                Some(until) if until <= BootInstant::now() => return,
                Some(_) => sleep(LOOK).await,
            }
        }
    }

    /// Gives a keeper the time of the last beat, and from now on that of every beat, for as long as
    /// the connection lasts.
    pub(super) async fn hold(&self, id: SessionId, connection: &Connection) {
        let Some(mut beats) = self.beats() else { return };
        give_time(connection, beats.until()).await;
        let giver = tokio::spawn(give_more(beats, connection.clone()));
        self.0.heartbeat.givers().insert(id, AbortOnDropHandle::new(giver));
    }

    /// Waits until what starts now is held for as long as the next beat takes, and refuses where no beat comes: a
    /// browser would end as soon as it began.
    async fn expect_beat(&self) -> Result<(), LiveError> {
        let Some(lease) = self.config().lease else { return Ok(()) };
        let mut renewed = self.0.heartbeat.renewed.subscribe();
        let is_held =
            |began: &BootInstant| until(*began, lease) > BootInstant::now().after(lease / 4);
        let heard = timeout(BEAT_LIMIT, renewed.wait_for(is_held)).await;
        heard.is_ok_and(|heard| heard.is_ok()).then_some(()).ok_or(LiveError::NotHeard)
    }

    /// Makes this node the holder of a session, in a new term.
    pub(crate) async fn acquire(&self, session: &Session, by: Taker) -> Result<Term, LiveError> {
        self.expect_beat().await?;
        let (id, node) = (session.id, self.config().node);
        let term = match by {
            Taker::Node => self.store().acquire_lease(id, node).await?,
            Taker::Owner => {
                self.store().acquire_lease_within_quota(id, node, &session.owner).await?
            }
        };
        tracing::info!(session = %session.id, %term, "holds a session");
        Ok(term)
    }

    /// Whether another node of the database fell silent: nothing is held by it for longer than a lease.
    pub(crate) fn is_silent(&self, node: NodeId) -> bool {
        node != self.config().node && self.0.heartbeat.silent(node).is_some()
    }

    /// Checks that the session of another node could be brought here, and changes nothing.
    pub(crate) async fn expect_adoptable(&self, id: SessionId) -> Result<(), LiveError> {
        self.silent_holder(id).await.map(drop)
    }

    /// Who holds a session, if that is another node that fell silent, and its last beat. One that beats
    /// holds it.
    async fn silent_holder(&self, id: SessionId) -> Result<Option<(NodeId, i64)>, LiveError> {
        let holder = self.store().fetch_lease(id).await?.and_then(|lease| lease.node);
        let Some(holder) = holder.filter(|holder| *holder != self.config().node) else {
            return Ok(None);
        };
        let beat =
            self.0.heartbeat.silent(holder).ok_or(StoreError::HeldElsewhere { node: holder })?;
        Ok(Some((holder, beat)))
    }

    /// Brings the session of another node here: one that no node holds, or whose holder fell silent.
    pub(crate) async fn adopt(&self, session: &Session) -> Result<(), LiveError> {
        let (id, node) = (session.id, self.config().node);
        if let Some((holder, beat)) = self.silent_holder(id).await? {
            self.end_lease(id, holder, beat).await?;
        }
        Ok(self.store().adopt_session(id, node).await?)
    }

    /// Ends the lease of a node that fell silent, and moves the session to where its snapshots allow.
    async fn end_lease(
        &self,
        id: SessionId,
        holder: NodeId,
        beat: i64,
    ) -> Result<Lifecycle, LiveError> {
        let now = Timestamp::now();
        let next = self.without_browser(id, now).await?;
        self.store().expire_lease(id, holder, beat, next, now).await?;
        tracing::warn!(session = %id, %holder, lifecycle = %next, "ended the lease of a node that fell silent");
        Ok(next)
    }

    /// What silent nodes held, and what this one held when it was cut off, as far as it can be resumed and this node
    /// resumes by itself. What finds no room is left to the next request for it.
    pub fn inherit(&self) -> mpsc::Receiver<Session> {
        let (sender, heir) = mpsc::channel(INHERITED);
        if self.0.heartbeat.heir.set(sender).is_err() {
            tracing::error!("what silent nodes held goes to whoever asked for it first");
        }
        heir
    }

    /// Ends the leases of nodes that fell silent: callers no longer hear that what they held runs. Who ends one brings
    /// the session back, so a node that is being drained, and would do so here, leaves them to others.
    async fn end_leases_of_silent(&self) {
        let brings_back = self.rehydrates() && !self.config().failover;
        if brings_back && self.expect_staying().is_err() {
            return;
        }
        let left = self.0.heartbeat.left();
        if left.is_empty() {
            return;
        }
        for (node, beat) in left {
            match self.end_leases_of(node, beat).await {
                Ok(()) => self.0.heartbeat.settle(node, beat),
                Err(error) => {
                    tracing::warn!(%node, %error, "what a silent node held could not be looked at");
                }
            }
        }
        if self.config().failover {
            self.bequeath_lapsed().await;
        }
    }

    /// Leaves what silent nodes held before, and what one of those that fell silent now may have been about to bring
    /// back, to whoever resumes by itself.
    async fn bequeath_lapsed(&self) {
        let Ok(since) = Timestamp::now().checked_sub(LAPSED) else { return };
        for node in self.0.heartbeat.all_silent() {
            match self.store().list_lapsed_sessions(node, since, MOST_LAPSED).await {
                Ok(sessions) => sessions.into_iter().for_each(|session| self.bequeath(session)),
                Err(error) => {
                    tracing::warn!(%node, %error, "what a silent node held before could not be looked at");
                }
            }
        }
    }

    /// Ends the leases of one node: of what ran there, and of what it was about to start, perhaps because another one had
    /// lost it.
    pub(super) async fn end_leases_of(&self, node: NodeId, beat: i64) -> Result<(), LiveError> {
        let since = Timestamp::now().checked_sub(LAPSED).unwrap_or(Timestamp::MIN);
        for session in self.store().list_held_sessions(node).await? {
            match self.end_lease(session.id, node, beat).await {
                Ok(Lifecycle::Recoverable)
                    if was_lost(session.lifecycle, session.updated_at, since) =>
                {
                    self.bequeath(session);
                }
                // It lives after all, or another node was faster.
                Ok(_) | Err(LiveError::Store(StoreError::HeldElsewhere { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Leaves a session that lost its node, or whose node lost its lease, to whoever resumes by itself, if anybody does.
    pub(super) fn bequeath(&self, session: Session) {
        let heir =
            self.0.heartbeat.heir.get().filter(|_| self.rehydrates() || self.config().failover);
        let Some(heir) = heir else { return };
        let id = session.id;
        if heir.try_send(Session { lifecycle: Lifecycle::Recoverable, ..session }).is_err() {
            tracing::warn!(session = %id, "too many sessions wait to be resumed: this one is left as it is");
        }
    }
}

/// Whether a session that a silent node held is to be brought back: what ran there, and what was to run there again and
/// had ended not long ago. What had rested for longer only its owner can have wanted to run, and was told that it
/// does not.
pub(super) fn was_lost(lifecycle: Lifecycle, changed: Timestamp, since: Timestamp) -> bool {
    match lifecycle {
        Lifecycle::Active => true,
        Lifecycle::Recoverable => changed >= since,
        _ => false,
    }
}

/// How often other nodes are looked at: what a silent one held is to be back some seconds after its lease.
fn look_pause(lease: Duration, failover: bool) -> Duration {
    if failover { (lease / 4).min(FAILOVER_LOOK) } else { lease / 4 }
}

/// How long a browser may live after a beat: it is gone before another node may end the lease.
fn granted(lease: Duration) -> Duration {
    lease * 3 / 4
}

/// Until when what was renewed then may live.
fn until(renewed: BootInstant, lease: Duration) -> BootInstant {
    renewed.after(granted(lease))
}

/// Gives a keeper the time of each beat, one call after the other, until its connection closes. Beats that
/// came while it did not answer are one when it does.
async fn give_more(mut beats: Beats, connection: Connection) {
    loop {
        let beat = tokio::select! {
            () = connection.closed() => return,
            beat = beats.next() => beat,
        };
        let Some(until) = beat else { return };
        give_time(&connection, until).await;
    }
}

async fn give_time(connection: &Connection, until: BootInstant) {
    match keeper::hold(connection, until).await {
        Err(error) if !connection.is_closed() => {
            tracing::warn!(%error, "a keeper was not told that its session is held");
        }
        _ => {}
    }
}

async fn beat(
    supervisor: BrowserSupervisor,
    record: NodeRecord,
    pause: Duration,
    shutdown: CancellationToken,
) {
    let mut times = regularly(pause);
    loop {
        times.tick().await;
        let began = BootInstant::now();
        match supervisor.store().beat_node(&record).await {
            Ok(true) => supervisor.0.heartbeat.renew(began),
            Ok(false) => {
                tracing::error!("another node took the place of this one: ending");
                return shutdown.cancel();
            }
            Err(error) => tracing::error!(%error, "a beat did not reach the database"),
        }
    }
}

async fn watch_leases(supervisor: BrowserSupervisor, pause: Duration) {
    let mut times = regularly(pause);
    loop {
        times.tick().await;
        supervisor.observe().await;
        supervisor.end_leases_of_silent().await;
    }
}

/// Ticks, the first after a pause. One that comes late moves those that follow.
fn regularly(pause: Duration) -> Interval {
    let mut times = interval_at(tokio::time::Instant::now() + pause, pause);
    times.set_missed_tick_behavior(MissedTickBehavior::Delay);
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_had_rested_for_long_is_not_brought_back_because_its_node_was_about_to_start_it() {
        let since = Timestamp::UNIX_EPOCH;
        let before = since - SignedDuration::from_secs(1);
        assert!(was_lost(Lifecycle::Active, before, since));
        assert!(was_lost(Lifecycle::Recoverable, since, since));
        assert!(!was_lost(Lifecycle::Recoverable, before, since));
        assert!(!was_lost(Lifecycle::Closed, since, since));
    }
}
