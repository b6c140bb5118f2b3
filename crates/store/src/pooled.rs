//! Connections of an open database, each taken from a pool for a while: no wait for the server is without an end.
//!
//! The one idea: a server that loses power, or that a cut cable takes away, says nothing, and the system gives its
//! connections up after a quarter of an hour, or never where nothing was on its way to it. So each step of a statement is
//! waited for so long and no longer, here, where all statements of an open database come by. A connection that kept
//! silent for that long is never used again, for what it was asked may still be answered.

use crate::error::StoreError;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use sqlx::any::{AnyQueryResult, AnyRow, AnyStatement, AnyTypeInfo};
use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection, AnyPool, Either, Execute, Executor, SqlStr};
use std::io;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;

/// How long a server may take for a step of a statement. What waits for locks of others it ends before that.
pub(crate) const WAIT: Duration = Duration::from_secs(20);
/// The same for what says that the node lives: it is next to nothing to do, and leases last not much longer.
pub(crate) const BEAT_WAIT: Duration = Duration::from_secs(10);
/// The same for what carries parts, or looks at all rows of a table: what takes longer the server ends by itself.
const PATIENCE: Duration = Duration::from_secs(75);
/// How long a connection that is given back may take to say that it is at rest.
const RETURN_LIMIT: Duration = Duration::from_secs(5);

/// The connections to an open database. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    pool: AnyPool,
    /// How long a step of a statement is waited for; none where the database is a file, which does not fall silent.
    wait: Option<Duration>,
}

impl Pool {
    pub(crate) fn new(pool: AnyPool, wait: Option<Duration>) -> Self {
        Self { pool, wait }
    }

    /// The same for statements that may take the server as long as it allows itself.
    pub(crate) fn patient(&self) -> Self {
        Self { pool: self.pool.clone(), wait: self.wait.map(|_| PATIENCE) }
    }

    /// Takes a connection, once one is free, within the limit of the pool.
    pub(crate) async fn acquire(&self) -> sqlx::Result<PooledConnection> {
        Ok(PooledConnection {
            connection: self.pool.acquire().await?,
            wait: self.wait,
            is_over: false,
        })
    }

    /// What the rows of a statement say, each read as it comes, so that a long list is not there twice.
    pub(crate) async fn read_all<'q, E, T>(
        &self,
        query: E,
        read: impl Fn(&AnyRow) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError>
    where
        E: 'q + Execute<'q, Any>,
    {
        let mut found = Ok(Vec::new());
        let take = |step: Step| {
            if let (Ok(all), Either::Right(row)) = (&mut found, step) {
                match read(&row) {
                    Ok(one) => all.push(one),
                    Err(error) => found = Err(error),
                }
            }
        };
        self.acquire().await?.each(query, take).await?;
        found
    }

    /// Closes every connection, after the work under way on them.
    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }
}

/// A connection of the pool until this is dropped.
#[derive(Debug)]
pub(crate) struct PooledConnection {
    connection: PoolConnection<Any>,
    /// How long a step of a statement is waited for.
    wait: Option<Duration>,
    /// Whether it is closed when it is given back.
    is_over: bool,
}

/// What a statement brings, one after the other: rows, and at its end how many it changed.
type Step = Either<AnyQueryResult, AnyRow>;

impl PooledConnection {
    /// Closes it when it is given back.
    pub(crate) fn close_on_drop(&mut self) {
        self.is_over = true;
    }

    /// Waits from now on for as long as the server allows itself.
    pub(crate) fn be_patient(&mut self) {
        self.wait = self.wait.map(|_| PATIENCE);
    }

    /// The connection itself, for what carries all rows of a database, and takes as long as that takes.
    pub(crate) fn itself(&mut self) -> &mut AnyConnection {
        &mut self.connection
    }

    /// All that a statement brings.
    async fn all<'q, E>(&mut self, query: E) -> sqlx::Result<Vec<Step>>
    where
        E: 'q + Execute<'q, Any>,
    {
        let mut all = Vec::new();
        self.each(query, |step| all.push(step)).await?;
        Ok(all)
    }

    /// Takes each thing that a statement brings as it comes, to the end of the statement.
    async fn each<'q, E>(&mut self, query: E, mut take: impl FnMut(Step)) -> sqlx::Result<()>
    where
        E: 'q + Execute<'q, Any>,
    {
        let Self { connection, wait, is_over } = self;
        let connection: &mut AnyConnection = connection;
        let mut steps = connection.fetch_many(query);
        while let Some(step) = within(*wait, is_over, steps.try_next()).await? {
            take(step);
        }
        Ok(())
    }
}

impl Drop for PooledConnection {
    /// Gives it back. One whose other end is gone would else have its place until the system gives it up: it is asked
    /// whether it is at rest, and waits for the answer.
    fn drop(&mut self) {
        if self.is_over {
            // It has some seconds to take leave.
            self.connection.close_on_drop();
        } else if self.wait.is_some()
            && let Ok(runtime) = Handle::try_current()
        {
            let returned = self.connection.return_to_pool();
            runtime.spawn(async move {
                // Where it does not come back, it is closed, and its place is free.
                let _ = timeout(RETURN_LIMIT, returned).await;
            });
        }
    }
}

/// Waits for a step of a statement. A connection that brings none in time is over.
async fn within<T>(
    wait: Option<Duration>,
    is_over: &mut bool,
    step: impl Future<Output = sqlx::Result<T>>,
) -> sqlx::Result<T> {
    let Some(wait) = wait else { return step.await };
    if let Ok(found) = timeout(wait, step).await {
        return found;
    }
    *is_over = true;
    let silence = format!("no answer within {} s", wait.as_secs());
    Err(io::Error::new(io::ErrorKind::TimedOut, silence).into())
}

/// What a statement brings, once it has brought all of it.
fn steps<'e>(
    all: impl Future<Output = sqlx::Result<Vec<Step>>> + Send + 'e,
) -> BoxStream<'e, sqlx::Result<Step>> {
    stream::once(all)
        .map_ok(|all| stream::iter(all.into_iter().map(Ok::<_, sqlx::Error>)))
        .try_flatten()
        .boxed()
}

impl<'c> Executor<'c> for &'c mut PooledConnection {
    type Database = Any;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxStream<'e, sqlx::Result<Step>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Any>,
    {
        steps(self.all(query))
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, sqlx::Result<Option<AnyRow>>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Any>,
    {
        let PooledConnection { connection, wait, is_over } = self;
        let connection: &mut AnyConnection = connection;
        Box::pin(within(*wait, is_over, connection.fetch_optional(query)))
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [AnyTypeInfo],
    ) -> BoxFuture<'e, sqlx::Result<AnyStatement>>
    where
        'c: 'e,
    {
        let PooledConnection { connection, wait, is_over } = self;
        let connection: &mut AnyConnection = connection;
        Box::pin(within(*wait, is_over, connection.prepare_with(sql, parameters)))
    }
}

impl<'p> Executor<'p> for &'p Pool {
    type Database = Any;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxStream<'e, sqlx::Result<Step>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Any>,
    {
        steps(async move { self.acquire().await?.all(query).await })
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, sqlx::Result<Option<AnyRow>>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Any>,
    {
        Box::pin(async move { self.acquire().await?.fetch_optional(query).await })
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [AnyTypeInfo],
    ) -> BoxFuture<'e, sqlx::Result<AnyStatement>>
    where
        'p: 'e,
    {
        Box::pin(async move { self.acquire().await?.prepare_with(sql, parameters).await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DatabaseUrl;
    use sqlx::any::AnyPoolOptions;

    /// The process of the server that answers.
    async fn process(pool: &Pool) -> i32 {
        sqlx::query_scalar("select pg_backend_pid()").fetch_one(pool).await.unwrap()
    }

    #[tokio::test]
    async fn a_connection_that_kept_silent_is_not_used_again_and_leaves_its_place() {
        sqlx::any::install_default_drivers();
        let url: DatabaseUrl = baton_postgres::create_database().unwrap().parse().unwrap();
        let options = AnyPoolOptions::new().max_connections(1);
        let pool = options.connect_with(url.options().unwrap()).await.unwrap();
        let pool = Pool::new(pool, Some(Duration::from_secs(2)));
        let before = process(&pool).await;
        assert_eq!(process(&pool).await, before, "what was answered is used again");
        for _ in 0..2 {
            let silent = sqlx::query("select pg_sleep(10)").execute(&pool).await.unwrap_err();
            let silent = StoreError::from(silent);
            let expected = "cannot reach the database: error communicating with database: no answer within 2 s";
            assert_eq!(silent.to_string(), expected);
            assert!(matches!(silent, StoreError::Unreachable { .. }));
        }
        assert_ne!(process(&pool).await, before);
        pool.close().await;
    }

    #[tokio::test]
    async fn who_is_patient_waits_for_longer() {
        sqlx::any::install_default_drivers();
        let url: DatabaseUrl = baton_postgres::create_database().unwrap().parse().unwrap();
        let pool = AnyPoolOptions::new().connect_with(url.options().unwrap()).await.unwrap();
        let pool = Pool::new(pool, Some(Duration::from_secs(2)));
        let mut connection = pool.patient().acquire().await.unwrap();
        sqlx::query("select pg_sleep(3)").execute(&mut connection).await.unwrap();
        drop(connection);
        pool.close().await;
    }
}
