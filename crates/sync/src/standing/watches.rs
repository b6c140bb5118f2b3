//! Every peer that is watched, each once, however many follow it.

use super::watched::Watched;
use baton_session::{NodeId, Owner};
use baton_store::Peer;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::watch;

/// The peers that are watched. Cheap to clone.
#[derive(Clone, Default)]
pub struct Watches(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// Wakes whoever waits for another peer, or for another word on one.
    peers: watch::Sender<()>,
    /// Wakes whoever waits for what a watched peer says.
    news: watch::Sender<()>,
    /// Those that somebody follows; whoever follows holds them.
    watched: Mutex<HashMap<(Owner, NodeId), Weak<Watched>>>,
}

impl Watches {
    /// Tells that a peer came, went or is given something else.
    pub(crate) fn peers_changed(&self) {
        self.0.peers.send_replace(());
    }

    /// Whoever waits for it hears of that from now on.
    pub(super) fn peers(&self) -> watch::Receiver<()> {
        self.0.peers.subscribe()
    }

    /// Tells that a watched peer said something else.
    pub(super) fn tell(&self) {
        self.0.news.send_replace(());
    }

    /// Whoever waits for it hears of that from now on.
    pub(super) fn news(&self) -> watch::Receiver<()> {
        self.0.news.subscribe()
    }

    /// A peer that is watched from now on, for as long as somebody holds what is returned; `begin`
    /// begins it.
    pub(super) fn watch(&self, peer: &Peer, begin: impl FnOnce() -> Arc<Watched>) -> Arc<Watched> {
        let mut watched = self.watched();
        watched.retain(|_, one| one.strong_count() > 0);
        let place = (peer.owner.clone(), peer.node);
        if let Some(one) = watched.get(&place).and_then(Weak::upgrade) {
            return one;
        }
        let one = begin();
        watched.insert(place, Arc::downgrade(&one));
        one
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<(Owner, NodeId), Weak<Watched>>> {
        self.0.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
