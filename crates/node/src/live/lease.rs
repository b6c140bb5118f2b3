//! Holding sessions: the beat of this node, and what becomes of its browsers when it stops.
//!
//! The one idea: whoever shares a database must keep saying that it lives, and its browsers live only
//! as long as it does. Each beat that reached the database gives them three quarters of a lease more;
//! others may take a session when they have seen the beat stand still for a whole one. Both are
//! counted by clocks that nobody sets. A node that has its database for itself needs none of this:
//! its browsers outlive it for as long as they like.

use super::{Hub, LiveError};
use baton_browser::cdp::Connection;
use baton_browser::keeper::{self, BootInstant};
use baton_session::{NodeId, Session, SessionId, Term};
use baton_store::{NodeBeat, NodeRecord, StoreError};
use futures_util::future::join_all;
use jiff::Timestamp;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// How often it is looked whether a beat came in time.
const LOOK: Duration = Duration::from_millis(500);

/// What this node knows of its own life and that of others. Its clocks start when it is made.
pub(super) struct Pulse {
    /// When the last beat that reached the database began.
    renewed: Mutex<BootInstant>,
    /// The beats of all nodes, and since when each stands.
    seen: Mutex<HashMap<NodeId, Seen>>,
    /// The keepers that every beat gives more time, also while a session is still being opened.
    keepers: Mutex<HashMap<SessionId, Connection>>,
}

struct Seen {
    beat: i64,
    since: Instant,
    lease: Option<Duration>,
}

impl Default for Pulse {
    fn default() -> Self {
        Self {
            renewed: Mutex::new(BootInstant::now()),
            seen: Mutex::default(),
            keepers: Mutex::default(),
        }
    }
}

impl Pulse {
    fn renewed(&self) -> MutexGuard<'_, BootInstant> {
        self.renewed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seen(&self) -> MutexGuard<'_, HashMap<NodeId, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keepers(&self) -> MutexGuard<'_, HashMap<SessionId, Connection>> {
        self.keepers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, nodes: Vec<NodeBeat>, now: Instant) {
        let mut seen = self.seen();
        for NodeBeat { node, beat } in nodes {
            let known = seen.get(&node.id).filter(|known| known.beat == beat);
            let since = known.map_or(now, |known| known.since);
            seen.insert(node.id, Seen { beat, since, lease: node.lease });
        }
    }

    /// The beat of a node that has stood still for longer than its leases last.
    fn silent(&self, node: NodeId) -> Option<i64> {
        let seen = self.seen();
        let found = seen.get(&node)?;
        (found.since.elapsed() > found.lease?).then_some(found.beat)
    }
}

impl Hub {
    /// Registers this node, and beats until `end`, if others may use the database too. When it finds
    /// that another node took its place, it cancels `end`.
    pub async fn start_beating(&self, end: CancellationToken) -> Result<(), LiveError> {
        let record = NodeRecord {
            id: self.config().node,
            place: self.config().place.clone(),
            lease: self.config().lease,
        };
        self.expect_no_twin(&record).await?;
        let began = BootInstant::now();
        self.store().register_node(&record).await?;
        *self.0.pulse.renewed() = began;
        if let Some(lease) = record.lease {
            self.observe().await;
            self.0.tasks.spawn(beat(self.clone(), record, lease / 4, end));
        }
        Ok(())
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
    async fn observe(&self) {
        match self.store().list_nodes().await {
            Ok(nodes) => self.0.pulse.note(nodes, Instant::now()),
            Err(error) => tracing::warn!(%error, "the other nodes could not be looked at"),
        }
    }

    /// Until when browsers may live without another beat; none means for ever.
    pub(super) fn hold_until(&self) -> Option<BootInstant> {
        let lease = self.config().lease?;
        Some(self.0.pulse.renewed().after(lease * 3 / 4))
    }

    /// Waits until this node can no longer say that it holds what it holds, because no beat reached the
    /// database; for ever where it has the database for itself.
    pub(crate) async fn lost(&self) {
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
        if self.config().lease.is_some() {
            self.0.pulse.keepers().insert(id, connection.clone());
            self.give_time(connection).await;
        }
    }

    async fn give_time(&self, connection: &Connection) {
        let Some(until) = self.hold_until() else { return };
        match keeper::hold(connection, until).await {
            Err(error) if !connection.is_closed() => {
                tracing::warn!(%error, "a keeper was not told that its session is held");
            }
            _ => {}
        }
    }

    /// Makes this node the holder of a session, in a new term.
    pub(crate) async fn acquire(&self, session: &Session) -> Result<Term, LiveError> {
        let term = self.store().acquire_lease(session.id, self.config().node).await?;
        tracing::info!(session = %session.id, %term, "holds a session");
        Ok(term)
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
        let beat = self.0.pulse.silent(holder).ok_or(StoreError::HeldElsewhere { node: holder })?;
        Ok(Some((holder, beat)))
    }

    /// Brings the session of another node here: one that nobody holds, or whose holder fell silent.
    pub(crate) async fn adopt(&self, session: &Session) -> Result<(), LiveError> {
        let (id, node) = (session.id, self.config().node);
        if let Some((holder, beat)) = self.silent_holder(id).await? {
            self.store().expire_lease(id, holder, beat, Timestamp::now()).await?;
            tracing::warn!(session = %id, %holder, "ended the lease of a node that fell silent");
        }
        Ok(self.store().adopt_session(id, node).await?)
    }
}

async fn beat(hub: Hub, record: NodeRecord, pause: Duration, end: CancellationToken) {
    while end.run_until_cancelled(sleep(pause)).await.is_some() {
        let began = BootInstant::now();
        match hub.store().beat_node(&record).await {
            Ok(true) => {
                *hub.0.pulse.renewed() = began;
                let mut keepers = hub.0.pulse.keepers().clone();
                keepers.retain(|_, connection| !connection.is_closed());
                hub.0.pulse.keepers().retain(|id, _| keepers.contains_key(id));
                join_all(keepers.values().map(|keeper| hub.give_time(keeper))).await;
                hub.observe().await;
            }
            Ok(false) => {
                tracing::error!("another node took the place of this one: ending");
                return end.cancel();
            }
            Err(error) => tracing::error!(%error, "a beat did not reach the database"),
        }
    }
}
