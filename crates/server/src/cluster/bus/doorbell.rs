//! Whom the bus wakes, and what is counted of it.
//!
//! The one idea: who follows this node waits for the doorbell as well as for the changes of this process. Nothing is
//! queued for it without a bound: who is late looks at everything.

use super::lists::ListChange;
use super::message::Dropped;
use baton_api::NodeBus;
use baton_session::SessionId;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;

/// How many changes wait for one who listens.
const WAITING: usize = 256;

/// What other nodes say, for all who wait for it here. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Doorbell(Arc<DoorbellState>);

struct DoorbellState {
    changes: broadcast::Sender<Option<SessionId>>,
    lists: broadcast::Sender<ListChange>,
    bus: Mutex<Option<NodeBus>>,
}

impl Default for Doorbell {
    fn default() -> Self {
        let (changes, lists) = (broadcast::Sender::new(WAITING), broadcast::Sender::new(WAITING));
        Self(Arc::new(DoorbellState { changes, lists, bus: Mutex::default() }))
    }
}

impl Doorbell {
    /// Listens: from now on, each session of which another node says that it changed; none where any may have.
    pub(crate) fn listen(&self) -> broadcast::Receiver<Option<SessionId>> {
        self.0.changes.subscribe()
    }

    /// Listens: from now on, each list of which another node says that it became another one.
    pub(crate) fn listen_to_lists(&self) -> broadcast::Receiver<ListChange> {
        self.0.lists.subscribe()
    }

    /// How the bus is; none where there is none.
    pub(crate) fn bus(&self) -> Option<NodeBus> {
        self.locked().clone()
    }

    /// Wakes all who listen.
    pub(super) fn ring(&self, session: Option<SessionId>) {
        // There need be no listener.
        let _ = self.0.changes.send(session);
    }

    /// Wakes all who listen to lists.
    pub(super) fn ring_list(&self, change: ListChange) {
        // There need be no listener.
        let _ = self.0.lists.send(change);
    }

    /// There is a bus from now on, which is not connected yet.
    pub(super) fn open(&self) {
        *self.locked() = Some(NodeBus::default());
        metrics::gauge!("baton_bus_connected").set(0.0);
    }

    /// What is said there comes back.
    pub(super) fn connected(&self) {
        let was = self.change(|bus| {
            bus.found = None;
            std::mem::replace(&mut bus.is_connected, true)
        });
        if !was {
            tracing::info!("the bus of the cluster is connected");
        }
        metrics::gauge!("baton_bus_connected").set(1.0);
    }

    /// It is not connected, for this reason.
    pub(super) fn lost(&self, found: &str) {
        let is_new = self.change(|bus| {
            bus.is_connected = false;
            bus.found.replace(found.to_owned()).is_none_or(|before| before != found)
        });
        if is_new {
            tracing::warn!(
                found,
                "the bus of the cluster is away: what happens at other nodes is seen within seconds, in the database"
            );
        }
        metrics::gauge!("baton_bus_connected").set(0.0);
    }

    /// A message went out.
    pub(super) fn sent(&self) {
        self.change(|bus| bus.sent += 1);
        metrics::counter!("baton_bus_sent_total").increment(1);
    }

    /// One of another node came, and counts.
    pub(super) fn heard(&self) {
        self.change(|bus| bus.heard += 1);
        metrics::counter!("baton_bus_heard_total").increment(1);
    }

    /// One came that does not count.
    pub(super) fn dropped(&self, why: Dropped) {
        self.change(|bus| *bus.dropped.entry(why.as_str().to_owned()).or_default() += 1);
        metrics::counter!("baton_bus_dropped_total", "reason" => why.as_str()).increment(1);
    }

    /// Messages of another node are missing.
    pub(super) fn gap(&self) {
        self.change(|bus| bus.gaps += 1);
        metrics::counter!("baton_bus_gaps_total").increment(1);
    }

    fn change<T: Default>(&self, change: impl FnOnce(&mut NodeBus) -> T) -> T {
        self.locked().as_mut().map(change).unwrap_or_default()
    }

    fn locked(&self) -> MutexGuard<'_, Option<NodeBus>> {
        self.0.bus.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
