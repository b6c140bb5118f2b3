//! An open database: what every verb of the other rooms works on.

use crate::changes::Changes;
use crate::config::{Engine, Limits};
use crate::error::{SOMEWHERE, StoreError};
use crate::seal::Seal;
use crate::turns::Turns;
use baton_session::SessionId;
use sqlx::AnyPool;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, broadcast};

/// How long [`Store::check`] waits for an answer.
const CHECK_LIMIT: Duration = Duration::from_secs(2);

/// An open database. Clones are cheap and share one pool of connections.
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

/// What its clones share.
pub(crate) struct Inner {
    pub(crate) pool: AnyPool,
    pub(crate) engine: Engine,
    /// For what says that this node lives: a connection of its own on PostgreSQL, where the others may
    /// all wait for something. Readers of SQLite wait for nobody, and its writers for each other anyway.
    pub(crate) beats: AnyPool,
    /// Whose turn it is to write to SQLite, which knows one writer at a time.
    pub(crate) turn: Arc<Mutex<()>>,
    /// Whose turn it is to take a connection to PostgreSQL for an owner's parts.
    pub(crate) turns: Turns,
    pub(crate) seal: Arc<Seal>,
    pub(crate) limits: Limits,
    pub(crate) changes: Changes,
}

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

    /// Listens: from now on, every session that is made or deleted, gets a snapshot or another name, or
    /// moves to another state or node, by this process. What other nodes do to a database that is shared is not told.
    pub fn listen(&self) -> broadcast::Receiver<SessionId> {
        self.inner.changes.subscribe()
    }

    pub(crate) fn pool(&self) -> &AnyPool {
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
