//! An open database: what every verb of the other rooms works on, what its clones share, and the turns in
//! which writers of this process come.
//!
//! The one idea: *no writer waits for another one with a connection in hand*. A writer that adds or collects
//! parts of an owner waits here for one that does so already, and only then takes a connection, to wait for
//! other processes at most. Of those no more than half of the connections are taken, so that keys are looked
//! up whatever the writers wait for.

use crate::config::{Engine, Limits};
use crate::error::{SOMEWHERE, StoreError};
use crate::pins::Pins;
use crate::pooled::Pool;
use crate::quotas::{CountedBytes, Quotas};
use crate::seal::Seal;
use baton_session::{Owner, SessionId};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{Mutex, OwnedMutexGuard, OwnedSemaphorePermit, Semaphore, broadcast};
use tokio::time::{Instant, timeout_at};
use zeroize::Zeroizing;

/// An open database. Clones are cheap and share one pool of connections.
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

/// What its clones share.
pub(crate) struct Inner {
    pub(crate) pool: Pool,
    pub(crate) engine: Engine,
    /// For what says that this node lives: a connection of its own on PostgreSQL, where the others may all
    /// wait for something. Readers of SQLite do not wait, and its writers for each other anyway.
    pub(crate) beats: Pool,
    /// Whose turn it is to write to SQLite, which knows one writer at a time.
    pub(crate) turn: Arc<Mutex<()>>,
    /// Whose turn it is to take a connection to PostgreSQL for an owner's parts.
    pub(crate) turns: Turns,
    pub(crate) seal: Arc<Seal>,
    pub(crate) limits: Limits,
    /// What owners may have; nothing is bounded until that is said.
    pub(crate) quotas: OnceLock<Quotas>,
    pub(crate) counted_bytes: CountedBytes,
    pub(crate) changes: Changes,
    /// The snapshots that no prune takes.
    pub(crate) pins: Pins,
}

/// How many changes wait for one who listens.
const WAITING: usize = 256;

/// Where the sessions that changed are sent, once that is on disk, to the listeners in this process. No
/// writer waits for those: a listener that is late by more than a bound hears how many it missed.
pub(crate) type Changes = broadcast::Sender<SessionId>;

/// How long a writer waits for its turn.
pub(crate) const TURN_LIMIT: Duration = Duration::from_secs(20);

type Lock = tokio::sync::Mutex<()>;

/// The locks of owners that a writer holds or waits for. An unused one is forgotten at the next turn, so
/// there are never more than writers.
pub(crate) struct Turns {
    owners: std::sync::Mutex<HashMap<Owner, Weak<Lock>>>,
    places: Arc<Semaphore>,
}

/// Held by the one who adds or collects parts of an owner. Given back in the order of its fields.
pub(crate) struct Turn {
    _place: OwnedSemaphorePermit,
    _owner: OwnedMutexGuard<()>,
}

/// How long [`Store::check`] waits for an answer.
const CHECK_LIMIT: Duration = Duration::from_secs(2);

impl Store {
    /// Closes every connection, after the work under way on them.
    pub async fn close(&self) {
        self.inner.pool.close().await;
        self.inner.beats.close().await;
    }

    /// Whether the database answers within 2 seconds.
    pub async fn check(&self) -> Result<(), StoreError> {
        let query = sqlx::query("select 1").execute(&self.inner.pool);
        match tokio::time::timeout(CHECK_LIMIT, query).await {
            Ok(answer) => Ok(answer.map(drop)?),
            Err(_) => Err(StoreError::Unreachable {
                place: SOMEWHERE.to_owned(),
                why: format!("no answer within {} s", CHECK_LIMIT.as_secs()),
            }),
        }
    }

    /// What bounds what is stored.
    pub fn limits(&self) -> Limits {
        self.inner.limits
    }

    /// Listens: from now on, every session that is made or deleted, gets a snapshot or another name, or moves
    /// to another state or node, by this process, and every one of which [`Store::tell`] says so. What other nodes
    /// do to a database that is shared is not among it.
    pub fn listen(&self) -> broadcast::Receiver<SessionId> {
        self.inner.changes.subscribe()
    }

    /// Tells those who listen that something of a session changed that is not in the database, such as a file.
    pub fn tell(&self, session: SessionId) {
        // There need be no listener.
        let _ = self.inner.changes.send(session);
    }

    /// The id of its data key: random, of this one database and of copies of it.
    pub fn key_id(&self) -> &str {
        self.inner.seal.key_id()
    }

    /// A secret for this purpose that every node of this database knows, and nobody without its master key.
    pub fn shared_secret(&self, purpose: &str) -> Zeroizing<[u8; 32]> {
        self.inner.seal.secret(purpose)
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.inner.pool
    }

    pub(crate) fn seal(&self) -> Arc<Seal> {
        Arc::clone(&self.inner.seal)
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("engine", &self.inner.engine).finish_non_exhaustive()
    }
}

/// Where there is no listener yet.
pub(crate) fn changes() -> Changes {
    broadcast::Sender::new(WAITING)
}

impl Turns {
    /// Turns of which at most so many are taken at once.
    pub(crate) fn new(at_once: usize) -> Self {
        Self { owners: std::sync::Mutex::default(), places: Arc::new(Semaphore::new(at_once)) }
    }

    /// Waits until no other writer adds or collects parts of `owner`, and a connection may be taken for it.
    pub(crate) async fn wait_for_turn(
        &self,
        owner: &Owner,
        deadline: Instant,
    ) -> Result<Turn, StoreError> {
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
