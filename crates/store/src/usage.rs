//! Counts what an owner has, and refuses what its quota does not allow.
//!
//! The one idea: a bound is asked for in the transaction that takes what is bounded, and those of one owner come one
//! after the other; so two nodes that are asked at once give no more than one. Nothing that is there is taken away by
//! a bound, and what a node brings back by itself asks for none: a bound costs nobody a login.

use crate::cluster::now;
use crate::error::StoreError;
use crate::pooled::PooledConnection;
use crate::quotas::{Counted, Quota, Quotas, Usage};
use crate::store::Store;
use crate::write::Write;
use baton_session::{NodeId, Owner, SandboxId, SessionId};
use sqlx::AssertSqlSafe;
use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long it is believed how many bytes an owner has.
const BELIEVED: Duration = Duration::from_secs(30);
/// Of how many owners that is remembered.
const REMEMBERED: usize = 1024;

/// How what an owner has is counted, up to a number that is enough to know.
const SESSIONS: &str =
    "select count(*) from (select 1 as one from sessions where owner = $1 limit $2) as found";
const BROWSERS: &str = "select count(*) from (
     select 1 as one from leases join sessions on sessions.id = leases.session
     where leases.node is not null and sessions.owner = $1 and leases.session <> $3 limit $2
 ) as found";
const BYTES: &str =
    "select cast(coalesce(sum(length(sealed)), 0) as bigint) from parts where owner = $1";

impl Store {
    /// From now on these bound what this node makes. What is said first stays.
    pub fn set_quotas(&self, quotas: Quotas) {
        let _ = self.inner.quotas.set(quotas);
    }

    /// What an owner may have.
    pub fn quota(&self, owner: &Owner) -> Quota {
        self.inner.quotas.get().map(|quotas| quotas.of(owner)).unwrap_or_default()
    }

    /// What an owner has.
    pub async fn usage(&self, owner: &Owner) -> Result<Usage, StoreError> {
        let mut connection = self.pool().patient().acquire().await?;
        Ok(Usage {
            sessions: count_sessions(&mut connection, owner, None).await?,
            browsers: count_browsers(&mut connection, owner, None, None).await?,
            sandboxes: self.count_sandboxes(&mut connection, owner).await?,
            stored_bytes: count_bytes(&mut connection, owner).await?,
        })
    }

    /// Refuses a new session of an owner that has as much as it may have. The transaction goes on to make it; it is one
    /// [to take](Self::write_to_take) it, or one that adds parts.
    pub(crate) async fn expect_place_for_session(
        &self,
        connection: &mut PooledConnection,
        owner: &Owner,
    ) -> Result<(), StoreError> {
        let quota = self.quota(owner);
        if let Some(most) = quota.stored_bytes {
            let found = self.bytes_of(connection, owner).await?;
            expect_less(owner, Counted::StoredBytes, found, most)?;
        }
        let Some(most) = quota.most(Counted::Sessions) else { return Ok(()) };
        let found = count_sessions(connection, owner, Some(most)).await?;
        expect_less(owner, Counted::Sessions, found, most)
    }

    /// Refuses to hold a session of an owner of which as many are held as may be. One that is held has its place.
    pub(crate) async fn expect_place_for_browser(
        &self,
        connection: &mut PooledConnection,
        owner: &Owner,
        session: SessionId,
    ) -> Result<(), StoreError> {
        let Some(most) = self.quota(owner).most(Counted::Browsers) else { return Ok(()) };
        let found = count_browsers(connection, owner, Some(most), Some(session)).await?;
        expect_less(owner, Counted::Browsers, found, most)
    }

    /// Begins a transaction that takes of this. Where it is bounded, those of one owner come one after the other: in
    /// this process before they have a connection, as all do who add parts.
    pub(crate) async fn write_to_take(
        &self,
        what: Counted,
        owner: &Owner,
    ) -> Result<Write, StoreError> {
        if self.quota(owner).most(what).is_some() {
            self.write_parts(owner).await
        } else {
            self.write().await
        }
    }

    /// How many bytes an owner has, or had a moment ago.
    async fn bytes_of(
        &self,
        connection: &mut PooledConnection,
        owner: &Owner,
    ) -> Result<u64, StoreError> {
        let known = self.counted_bytes().get(owner).copied();
        if let Some((at, bytes)) = known
            && at.elapsed() < BELIEVED
        {
            return Ok(bytes);
        }
        // It looks at each part of an owner.
        connection.be_patient();
        let bytes = count_bytes(connection, owner).await?;
        let mut counted = self.counted_bytes();
        if counted.len() >= REMEMBERED {
            counted.clear();
        }
        counted.insert(owner.clone(), (Instant::now(), bytes));
        Ok(bytes)
    }

    fn counted_bytes(&self) -> MutexGuard<'_, HashMap<Owner, (Instant, u64)>> {
        self.inner.counted_bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Notes that an owner has a sandbox at `node`. Fails with `QuotaReached` where it has as many as it may have.
    pub async fn hold_sandbox(
        &self,
        owner: &Owner,
        sandbox: SandboxId,
        node: NodeId,
    ) -> Result<(), StoreError> {
        let mut write = self.write_to_take(Counted::Sandboxes, owner).await?;
        if let Some(most) = self.quota(owner).most(Counted::Sandboxes) {
            let found = self.count_sandboxes(write.connection(), owner).await?;
            expect_less(owner, Counted::Sandboxes, found, most)?;
        }
        sqlx::query("insert into sandbox_holds (sandbox, owner, node) values ($1, $2, $3)")
            .bind(sandbox.to_string())
            .bind(owner.as_str())
            .bind(node.to_string())
            .execute(write.connection())
            .await?;
        write.commit().await
    }

    /// Notes that a sandbox is gone.
    pub async fn release_sandbox(&self, sandbox: SandboxId) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        sqlx::query("delete from sandbox_holds where sandbox = $1")
            .bind(sandbox.to_string())
            .execute(write.connection())
            .await?;
        write.commit().await
    }

    /// Notes that no sandbox of a node is there any more: it has just started.
    pub async fn release_sandboxes_of(&self, node: NodeId) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        sqlx::query("delete from sandbox_holds where node = $1")
            .bind(node.to_string())
            .execute(write.connection())
            .await?;
        write.commit().await
    }

    /// Those of a node that fell silent are gone with it.
    async fn count_sandboxes(
        &self,
        connection: &mut PooledConnection,
        owner: &Owner,
    ) -> Result<u64, StoreError> {
        let sql = format!(
            "select count(*) from sandbox_holds where owner = $1 and not exists (
                 select 1 from cluster_nodes as silent
                 where silent.node = sandbox_holds.node and silent.seen_at + silent.lease < {}
             )",
            now(self.inner.engine)
        );
        let found = sqlx::query_scalar(AssertSqlSafe(sql)).bind(owner.as_str());
        Ok(number(found.fetch_one(connection).await?))
    }
}

async fn count_sessions(
    connection: &mut PooledConnection,
    owner: &Owner,
    enough: Option<u64>,
) -> Result<u64, StoreError> {
    let found = sqlx::query_scalar(SESSIONS).bind(owner.as_str()).bind(limit(enough));
    Ok(number(found.fetch_one(connection).await?))
}

async fn count_browsers(
    connection: &mut PooledConnection,
    owner: &Owner,
    enough: Option<u64>,
    without: Option<SessionId>,
) -> Result<u64, StoreError> {
    let without = without.map(|session| session.to_string()).unwrap_or_default();
    let found = sqlx::query_scalar(BROWSERS).bind(owner.as_str()).bind(limit(enough)).bind(without);
    Ok(number(found.fetch_one(connection).await?))
}

async fn count_bytes(connection: &mut PooledConnection, owner: &Owner) -> Result<u64, StoreError> {
    Ok(number(sqlx::query_scalar(BYTES).bind(owner.as_str()).fetch_one(connection).await?))
}

/// How many have to be found to know that there are as many as there may be.
fn limit(enough: Option<u64>) -> i64 {
    enough.and_then(|most| i64::try_from(most).ok()).unwrap_or(i64::MAX)
}

fn number(found: i64) -> u64 {
    u64::try_from(found).unwrap_or_default()
}

fn expect_less(owner: &Owner, what: Counted, found: u64, most: u64) -> Result<(), StoreError> {
    if found < most {
        return Ok(());
    }
    Err(StoreError::QuotaReached { owner: owner.clone(), what, most, found })
}
