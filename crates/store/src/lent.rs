//! Connections of an open database, each lent for a while: all its statements come by here.

use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use sqlx::any::{AnyQueryResult, AnyRow, AnyStatement, AnyTypeInfo};
use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection, AnyPool, Either, Execute, Executor, SqlStr};

/// The connections to an open database. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    pool: AnyPool,
}

impl Pool {
    pub(crate) fn new(pool: AnyPool) -> Self {
        Self { pool }
    }

    /// Lends a connection, once one is free.
    pub(crate) async fn acquire(&self) -> sqlx::Result<Lent> {
        Ok(Lent { connection: self.pool.acquire().await? })
    }

    /// Closes every connection, after the work under way on them.
    pub(crate) async fn close(&self) {
        self.pool.close().await;
    }
}

/// A connection that is lent until this is dropped.
#[derive(Debug)]
pub(crate) struct Lent {
    connection: PoolConnection<Any>,
}

/// What a statement brings, one after the other: rows, and at its end how many it changed.
type Step = Either<AnyQueryResult, AnyRow>;

impl Lent {
    /// Closes it when it is given back.
    pub(crate) fn close_on_drop(&mut self) {
        self.connection.close_on_drop();
    }

    /// The connection itself, for what carries all rows of a database.
    pub(crate) fn itself(&mut self) -> &mut AnyConnection {
        &mut self.connection
    }

    /// All that a statement brings.
    async fn all<'q, E>(&mut self, query: E) -> sqlx::Result<Vec<Step>>
    where
        E: 'q + Execute<'q, Any>,
    {
        let mut steps = self.itself().fetch_many(query);
        let mut all = Vec::new();
        while let Some(step) = steps.try_next().await? {
            all.push(step);
        }
        Ok(all)
    }
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

impl<'c> Executor<'c> for &'c mut Lent {
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
        self.itself().fetch_optional(query)
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [AnyTypeInfo],
    ) -> BoxFuture<'e, sqlx::Result<AnyStatement>>
    where
        'c: 'e,
    {
        self.itself().prepare_with(sql, parameters)
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
