//! Connections, and how each is tuned.

use crate::config::Engine;
use crate::error::{SOMEWHERE, StoreError};
use crate::pooled::{BEAT_WAIT, Pool, WAIT};
use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::{AnyConnection, ConnectOptions, Connection};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// How long to wait for a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How long one that rested may take to answer; then another one is opened in its place, within that limit.
const PING_LIMIT: Duration = Duration::from_secs(3);

/// How long to wait before a new file is asked again.
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// Readers of SQLite beside its one writer; connections to PostgreSQL.
const SQLITE_CONNECTIONS: u32 = 4;
pub(crate) const POSTGRES_CONNECTIONS: u32 = 8;

/// How many of those to PostgreSQL may wait for the locks of owners, which other processes hold.
pub(crate) const POSTGRES_WRITERS: usize = 4;

/// `full` syncs the log at every commit: acknowledged means on disk. The size limit cuts a log that
/// once grew large.
const SQLITE_SETTINGS: &str = "
    pragma busy_timeout = 5000;
    pragma journal_mode = wal;
    pragma synchronous = full;
    pragma foreign_keys = on;
    pragma journal_size_limit = 67108864";

/// A server may acknowledge before it has written; we do not let it. No wait is without a limit, and
/// neither is a transaction whose node is frozen or cut off: the server ends it, for it may hold what
/// another node needs to take over. What nothing is heard of any more it gives up in a minute and a half, for it gives
/// no more than so many connections.
const POSTGRES_SETTINGS: &str = "
    select set_config('synchronous_commit', 'on', false)
        where current_setting('synchronous_commit') = 'off';
    set lock_timeout = '10s';
    set statement_timeout = '60s';
    set idle_in_transaction_session_timeout = '30s';
    set tcp_keepalives_idle = 60;
    set tcp_keepalives_interval = 10;
    set tcp_keepalives_count = 3";

/// Connects within the limit.
pub(crate) async fn connect(options: &AnyConnectOptions) -> Result<AnyConnection, StoreError> {
    match timeout(CONNECT_LIMIT, options.connect()).await {
        Ok(connected) => Ok(connected?),
        Err(_) => Err(StoreError::Unreachable {
            place: SOMEWHERE.to_owned(),
            why: format!("no answer within {} s", CONNECT_LIMIT.as_secs()),
        }),
    }
}

/// Tunes the first connection. To give a new file its log is the one thing for which SQLite does not
/// wait by itself while others look at the file.
pub(crate) async fn tune_new(
    connection: &mut AnyConnection,
    engine: Engine,
) -> Result<(), StoreError> {
    let deadline = Instant::now() + CONNECT_LIMIT;
    loop {
        match tune(connection, engine).await.map_err(StoreError::from) {
            Err(StoreError::Busy { .. }) if Instant::now() < deadline => sleep(BUSY_PAUSE).await,
            done => return done,
        }
    }
}

async fn tune(connection: &mut AnyConnection, engine: Engine) -> sqlx::Result<()> {
    let settings = match engine {
        Engine::Sqlite => SQLITE_SETTINGS,
        Engine::Postgres => POSTGRES_SETTINGS,
    };
    sqlx::raw_sql(settings).execute(connection).await.map(drop)
}

pub(crate) async fn pool(options: AnyConnectOptions, engine: Engine) -> sqlx::Result<Pool> {
    let (connections, wait) = match engine {
        Engine::Sqlite => (SQLITE_CONNECTIONS, None),
        Engine::Postgres => (POSTGRES_CONNECTIONS, Some(WAIT)),
    };
    Ok(Pool::new(pool_of(connections, engine).connect_with(options).await?, wait))
}

/// Connections for what says that the node lives: one of its own to PostgreSQL, which is made when it
/// is first asked for.
pub(crate) fn beats(pool: &Pool, options: AnyConnectOptions, engine: Engine) -> Pool {
    match engine {
        Engine::Sqlite => pool.clone(),
        Engine::Postgres => {
            Pool::new(pool_of(1, engine).connect_lazy_with(options), Some(BEAT_WAIT))
        }
    }
}

fn pool_of(connections: u32, engine: Engine) -> AnyPoolOptions {
    let options = AnyPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(CONNECT_LIMIT)
        .after_connect(move |connection, _| Box::pin(tune(connection, engine)));
    match engine {
        Engine::Sqlite => options,
        // The pool itself would ask for as long as anybody may wait for a connection, and open none.
        Engine::Postgres => options
            .test_before_acquire(false)
            .before_acquire(|connection, _| Box::pin(answers(connection))),
    }
}

/// Whether a connection that rested is there still.
async fn answers(connection: &mut AnyConnection) -> sqlx::Result<bool> {
    let pinged = timeout(PING_LIMIT, connection.ping()).await;
    Ok(pinged.is_ok_and(|pinged| pinged.is_ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DatabaseUrl;
    use crate::open::find_or_create;

    /// A connection that is tuned like every one of the pool.
    async fn tuned(url: DatabaseUrl) -> AnyConnection {
        sqlx::any::install_default_drivers();
        let options = url.options().unwrap();
        let mut connection = connect(&options).await.unwrap();
        tune(&mut connection, url.engine()).await.unwrap();
        connection
    }

    #[tokio::test]
    async fn a_server_ends_what_a_silent_node_leaves_open() {
        let url = baton_postgres::create_database().unwrap().parse().unwrap();
        let mut connection = tuned(url).await;
        let settings = [
            ("synchronous_commit", "on"),
            ("lock_timeout", "10s"),
            ("statement_timeout", "1min"),
            ("idle_in_transaction_session_timeout", "30s"),
        ];
        for (name, value) in settings {
            let sql = sqlx::AssertSqlSafe(format!("show {name}"));
            let found: String = sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap();
            assert_eq!(found, value, "{name}");
        }
    }

    #[tokio::test]
    async fn a_tuned_connection_syncs_every_commit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("baton.db");
        find_or_create(&path).unwrap();
        let mut connection = tuned(DatabaseUrl::Sqlite(path)).await;
        let settings = [("synchronous", 2), ("foreign_keys", 1), ("busy_timeout", 5000)];
        for (name, value) in settings {
            let sql = sqlx::AssertSqlSafe(format!("pragma {name}"));
            let found: i64 = sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap();
            assert_eq!(found, value, "{name}");
        }
    }
}
