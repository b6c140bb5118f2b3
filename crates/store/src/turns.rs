//! Turns of writers within this process.
//!
//! The one idea: *nobody waits for another writer with a connection in hand*. Whoever adds or collects
//! parts of an owner waits here for whoever does so already, and only then takes a connection, to wait
//! for other processes at most. Of those no more than half of the connections are taken, so that keys
//! are looked up whatever the writers wait for.

use crate::error::{SOMEWHERE, StoreError};
use baton_session::Owner;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// How long a writer waits for its turn.
pub(crate) const TURN_LIMIT: Duration = Duration::from_secs(20);

type Lock = tokio::sync::Mutex<()>;

/// The locks of owners that somebody holds or waits for. One that nobody uses is forgotten at the next
/// turn, so there are never more than writers.
pub(crate) struct Turns {
    owners: Mutex<HashMap<Owner, Weak<Lock>>>,
    places: Arc<Semaphore>,
}

/// Held by the one who adds or collects parts of an owner. Given back in the order of its fields.
pub(crate) struct Turn {
    _place: OwnedSemaphorePermit,
    _owner: OwnedMutexGuard<()>,
}

impl Turns {
    /// Turns of which at most so many are taken at once.
    pub(crate) fn new(at_once: usize) -> Self {
        Self { owners: Mutex::default(), places: Arc::new(Semaphore::new(at_once)) }
    }

    /// Waits until nobody else adds or collects parts of `owner`, and a connection may be taken for it.
    pub(crate) async fn take(&self, owner: &Owner, deadline: Instant) -> Result<Turn, StoreError> {
        let waits = async {
            let owner = self.lock_of(owner).lock_owned().await;
            // It is never closed.
            let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
            Some(Turn { _place: place, _owner: owner })
        };
        timeout_at(deadline, waits).await.ok().flatten().ok_or_else(too_long)
    }

    fn lock_of(&self, owner: &Owner) -> Arc<Lock> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.retain(|_, lock| lock.strong_count() > 0);
        if let Some(lock) = owners.get(owner).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::default();
        owners.insert(owner.clone(), Arc::downgrade(&lock));
        lock
    }
}

/// The others took too long.
pub(crate) fn too_long() -> StoreError {
    StoreError::Busy {
        place: SOMEWHERE.to_owned(),
        why: format!("other writers took more than {} s", TURN_LIMIT.as_secs()),
    }
}
