//! Turns for writers: every write is one transaction, begun here.
//!
//! SQLite knows one writer: within this process they queue for a turn, other processes are waited
//! for. On PostgreSQL they run side by side, except those that add or collect parts of one owner:
//! these take the owner's lock, so that no part is collected while a snapshot is about to name it.
//! Within this process they queue for it before they take a connection.

use crate::config::Engine;
use crate::error::StoreError;
use crate::pooled::{Pool, PooledConnection};
use crate::sessions;
use crate::store::{Changes, Store, TURN_LIMIT, Turn, too_long};
use baton_session::{Owner, SessionId};
use sha2::{Digest, Sha256};
use sqlx::{Any, Executor};
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, timeout_at};

/// A transaction that may write. Dropped without `commit`, it changes nothing.
pub(crate) struct Write {
    connection: PooledConnection,
    committed: bool,
    /// The session that it changes, and where that is sent.
    changed: Option<SessionId>,
    /// Whose list of sessions becomes another one.
    list: Option<Owner>,
    changes: Changes,
    /// Given back after the transaction: fields are dropped in order.
    turn: Option<OwnedMutexGuard<()>>,
    owners_turn: Option<Turn>,
}

impl Write {
    pub(crate) fn connection(&mut self) -> &mut PooledConnection {
        &mut self.connection
    }

    /// Tells that this session changed, once that is on disk.
    pub(crate) fn changes(&mut self, session: SessionId) {
        self.changed = Some(session);
    }

    /// The same of a change by which the list of its owner's sessions is another one: [`SessionsMark`] is too.
    ///
    /// [`SessionsMark`]: crate::SessionsMark
    pub(crate) fn changes_list(&mut self, session: SessionId, owner: &Owner) {
        self.changes(session);
        self.list = Some(owner.clone());
    }

    /// Commits. When this returns, what was written is on disk.
    pub(crate) async fn commit(mut self) -> Result<(), StoreError> {
        if let Some((owner, session)) = self.list.take().zip(self.changed) {
            // The last statement: on PostgreSQL others who write there wait until the transaction ends.
            sessions::count_list_change(self.connection(), &owner, session).await?;
        }
        if let Err(error) = sqlx::query("commit").execute(self.connection()).await {
            return Err(self.uncertain(error.into()));
        }
        self.committed = true;
        if let Some(session) = self.changed {
            // There need be no listener.
            let _ = self.changes.send(session);
        }
        Ok(())
    }

    /// Why a commit failed. Where the server was cut off in the middle of it, it may have stored all of it.
    fn uncertain(&self, error: StoreError) -> StoreError {
        match error {
            // SQLite, whose writers have a turn, says what it did.
            StoreError::Unreachable { place, why } if self.turn.is_none() => {
                let why = format!(
                    "{why}, in the middle of a commit\n\
                     it is not known whether what was asked for is stored: look before you ask for it again"
                );
                StoreError::Unreachable { place, why }
            }
            error => error,
        }
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
        self.write_on(self.pool()).await
    }

    /// The same for what says that this node lives, which waits for no other writer of PostgreSQL.
    pub(crate) async fn write_beat(&self) -> Result<Write, StoreError> {
        self.write_on(&self.inner.beats).await
    }

    async fn write_on(&self, pool: &Pool) -> Result<Write, StoreError> {
        let deadline = Instant::now() + TURN_LIMIT;
        let turn = match self.inner.engine {
            Engine::Sqlite => Some(self.turn(deadline).await?),
            Engine::Postgres => None,
        };
        loop {
            let connection = pool.acquire().await?;
            let changes = self.inner.changes.clone();
            let mut write = Write {
                connection,
                committed: false,
                changed: None,
                list: None,
                changes,
                turn: None,
                owners_turn: None,
            };
            let begun =
                sqlx::query(begin_statement(self.inner.engine)).execute(write.connection()).await;
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
        let turn = match self.inner.engine {
            Engine::Sqlite => None,
            Engine::Postgres => {
                Some(self.inner.turns.wait_for_turn(owner, Instant::now() + TURN_LIMIT).await?)
            }
        };
        let mut write = self.write().await?;
        write.owners_turn = turn;
        // Parts may be large, and the way to the server narrow.
        write.connection().be_patient();
        lock(write.connection(), self.inner.engine, owner.as_str()).await?;
        Ok(write)
    }

    async fn turn(&self, deadline: Instant) -> Result<OwnedMutexGuard<()>, StoreError> {
        let turn = timeout_at(deadline, self.inner.turn.clone().lock_owned()).await;
        turn.map_err(|_| too_long())
    }
}

/// How a transaction that writes begins. SQLite takes the write lock at once: a transaction that
/// reads first and writes later could fail in between.
pub(crate) fn begin_statement(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => "begin immediate",
        Engine::Postgres => "begin",
    }
}

/// Holds what bears this name until the transaction ends. SQLite's writers exclude each other anyway.
pub(crate) async fn lock<'c>(
    connection: impl Executor<'c, Database = Any>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, DatabaseUrl, Limits};
    use crate::leases::NodeRecord;
    use crate::master_key::MasterKey;
    use baton_session::NodeId;
    use sqlx::{AnyConnection, Connection};
    use std::time::Duration;

    const WRITERS: usize = 24;

    async fn waits_for_a_lock(connection: &mut AnyConnection) -> bool {
        let sql = "select count(*) from pg_locks where locktype = 'advisory' and not granted \
                   and database = (select oid from pg_database where datname = current_database())";
        let waiting: i64 = sqlx::query_scalar(sql).fetch_one(connection).await.unwrap();
        waiting > 0
    }

    /// Another process holds the lock of an owner. Were it given back, the story would tell nothing, so
    /// every writer has to wait still when all is answered.
    #[tokio::test]
    async fn writers_that_wait_for_an_owner_leave_connections_to_others() {
        let url: DatabaseUrl = baton_postgres::create_database().unwrap().parse().unwrap();
        let key = MasterKey::from_bytes([7; 32]);
        let config = Config { database: url.clone(), key, limits: Limits::default() };
        let store = Store::open(config).await.unwrap();
        let id: NodeId = "01890000-0000-7000-8000-000000000001".parse().unwrap();
        let node = NodeRecord { id, place: "here".to_owned(), lease: Some(Duration::from_secs(9)) };
        store.register_node(&node).await.unwrap();
        let mut elsewhere = crate::connect::connect(&url.options().unwrap()).await.unwrap();
        sqlx::query("begin").execute(&mut elsewhere).await.unwrap();
        // Half of them write for one owner, the others for one each.
        let owner = |n: usize| -> Owner {
            let name = if n.is_multiple_of(2) { "many".to_owned() } else { format!("owner-{n}") };
            name.parse().unwrap()
        };
        for n in 0..WRITERS {
            lock(&mut elsewhere, Engine::Postgres, owner(n).as_str()).await.unwrap();
        }
        let writers: Vec<_> = (0..WRITERS)
            .map(|n| {
                let store = store.clone();
                tokio::spawn(async move { store.write_parts(&owner(n)).await.map(drop) })
            })
            .collect();
        while !waits_for_a_lock(&mut elsewhere).await {}
        assert!(store.beat_node(&node).await.unwrap());
        assert_eq!(store.list_nodes().await.unwrap().len(), 1);
        assert!(store.find_key([1; 32]).await.unwrap().is_none());
        assert!(writers.iter().all(|writer| !writer.is_finished()), "they waited for each other");
        sqlx::query("commit").execute(&mut elsewhere).await.unwrap();
        for writer in writers {
            writer.await.unwrap().unwrap();
        }
        elsewhere.close().await.unwrap();
    }

    #[tokio::test]
    async fn a_node_says_that_it_lives_while_every_connection_waits_for_something() {
        let url: DatabaseUrl = baton_postgres::create_database().unwrap().parse().unwrap();
        let key = MasterKey::from_bytes([7; 32]);
        let config = Config { database: url, key, limits: Limits::default() };
        let store = Store::open(config).await.unwrap();
        let id: NodeId = "01890000-0000-7000-8000-000000000001".parse().unwrap();
        let node = NodeRecord { id, place: "here".to_owned(), lease: Some(Duration::from_secs(9)) };
        let mut taken = Vec::new();
        for _ in 0..crate::connect::POSTGRES_CONNECTIONS {
            taken.push(store.write().await.unwrap());
        }
        store.register_node(&node).await.unwrap();
        assert!(store.beat_node(&node).await.unwrap());
        assert_eq!(store.list_nodes().await.unwrap().len(), 1);
        drop(taken);
        store.close().await;
    }
}
