//! Turns for writers: every write is one transaction, begun here.
//!
//! SQLite knows one writer: within this process they queue for a turn, other processes are waited
//! for. On PostgreSQL they run side by side, except those that add or collect parts of one owner:
//! these take the owner's lock, so that no part is collected while a snapshot is about to name it.

use crate::changes::Changes;
use crate::config::Engine;
use crate::fault::SOMEWHERE;
use crate::{Store, StoreError};
use baton_session::{Owner, SessionId};
use sha2::{Digest, Sha256};
use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection};
use std::time::Duration;
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, timeout_at};

/// How long a writer waits for its turn.
const TURN_LIMIT: Duration = Duration::from_secs(20);

/// A transaction that may write. Dropped without `commit`, it changes nothing.
pub(crate) struct Write {
    connection: PoolConnection<Any>,
    committed: bool,
    /// The session that it changes, and where that is told.
    changed: Option<SessionId>,
    changes: Changes,
    /// Given back after the transaction: fields are dropped in order.
    turn: Option<OwnedMutexGuard<()>>,
}

impl Write {
    pub(crate) fn connection(&mut self) -> &mut AnyConnection {
        &mut self.connection
    }

    /// Tells that this session changed, once that is on disk.
    pub(crate) fn changes(&mut self, session: SessionId) {
        self.changed = Some(session);
    }

    /// Commits. When this returns, what was written is on disk.
    pub(crate) async fn commit(mut self) -> Result<(), StoreError> {
        sqlx::query("commit").execute(self.connection()).await?;
        self.committed = true;
        if let Some(session) = self.changed {
            // Nobody need listen.
            let _ = self.changes.send(session);
        }
        Ok(())
    }
}

impl Drop for Write {
    /// A connection whose transaction did not end well is closed, which undoes the transaction.
    /// A rollback would not do: an engine may have rolled back by itself (SQLite does on a full
    /// disk), and then refuses another one.
    fn drop(&mut self) {
        if !self.committed {
            self.connection.close_on_drop();
        }
    }
}

impl Store {
    /// Begins a transaction that touches no parts.
    pub(crate) async fn write(&self) -> Result<Write, StoreError> {
        let deadline = Instant::now() + TURN_LIMIT;
        let turn = match self.inner.engine {
            Engine::Sqlite => Some(self.turn(deadline).await?),
            Engine::Postgres => None,
        };
        loop {
            let connection = self.pool().acquire().await?;
            let changes = self.inner.changes.clone();
            let mut write =
                Write { connection, committed: false, changed: None, changes, turn: None };
            let begun = sqlx::query(begin(self.inner.engine)).execute(write.connection()).await;
            match begun.map_err(StoreError::from) {
                Ok(_) => {
                    write.turn = turn;
                    return Ok(write);
                }
                // SQLite has waited for 5 s before it says so.
                Err(StoreError::Busy { .. }) if Instant::now() < deadline => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Begins a transaction that adds or collects parts of `owner`.
    pub(crate) async fn write_parts(&self, owner: &Owner) -> Result<Write, StoreError> {
        let mut write = self.write().await?;
        lock(write.connection(), self.inner.engine, owner.as_str()).await?;
        Ok(write)
    }

    async fn turn(&self, deadline: Instant) -> Result<OwnedMutexGuard<()>, StoreError> {
        let turn = timeout_at(deadline, self.inner.turn.clone().lock_owned()).await;
        turn.map_err(|_| StoreError::Busy {
            place: SOMEWHERE.to_owned(),
            why: format!("other writers took more than {} s", TURN_LIMIT.as_secs()),
        })
    }
}

/// How a transaction that writes begins. SQLite takes the write lock at once: a transaction that
/// reads first and writes later could fail in between.
pub(crate) fn begin(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => "begin immediate",
        Engine::Postgres => "begin",
    }
}

/// Holds what bears this name until the transaction ends. SQLite's writers exclude each other anyway.
pub(crate) async fn lock(
    connection: &mut AnyConnection,
    engine: Engine,
    name: &str,
) -> Result<(), StoreError> {
    if engine == Engine::Postgres {
        sqlx::query("select pg_advisory_xact_lock($1)")
            .bind(lock_number(name))
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// PostgreSQL names such locks by number, among all programs on one database.
fn lock_number(name: &str) -> i64 {
    let digest = Sha256::digest(format!("baton lock v1\0{name}"));
    digest.iter().take(8).fold(0, |number, byte| (number << 8) | i64::from(*byte))
}
