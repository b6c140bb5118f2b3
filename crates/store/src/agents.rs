//! Which agent drives a session, of several at one node.
//!
//! The one idea: a change says who drove it before. When another agent does by then, nothing is stored, so of
//! two that take a session at once exactly one gets it. A person who takes over is noted with who gets the session
//! back, in the same row and with the same change, so that it is known whatever became of the node.

use crate::error::StoreError;
use crate::pooled::PooledConnection;
use crate::row::{instant, refuse_nul};
use crate::store::Store;
use baton_session::{AgentName, NodeId, Owner, SessionId};
use jiff::Timestamp;
use sqlx::Row;
use sqlx::any::AnyRow;
use std::collections::HashMap;

/// Who drives a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Driver {
    /// The agent; none when there is none now.
    pub agent: Option<AgentName>,
    /// Counts up with every change.
    pub fence: u64,
    /// When that began.
    pub since: Timestamp,
    /// Why it was taken from another agent; empty when it was not.
    pub reason: String,
    /// That it is a person, who has taken it over until they give it back.
    pub turn: Option<HumanTurn>,
}

/// A person's turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HumanTurn {
    /// Who drove before, and gets the session back; none where nobody did.
    pub from: Option<AgentName>,
}

/// How many turns are listed at once.
const TURNS: i64 = 1000;

impl Store {
    /// Who drives a session; none when no agent ever did.
    pub async fn fetch_driver(&self, session: SessionId) -> Result<Option<Driver>, StoreError> {
        fetch(&mut self.pool().acquire().await?, session).await
    }

    /// The sessions of an owner that an agent drives.
    pub async fn list_drivers(
        &self,
        owner: &Owner,
    ) -> Result<HashMap<SessionId, Driver>, StoreError> {
        let rows = sqlx::query(
            "select session, agent, fence, since, reason, gives_back_to from session_agents
             where agent <> '' and session in (select id from sessions where owner = $1)",
        )
        .bind(owner.as_str())
        .fetch_all(self.pool())
        .await?;
        rows.iter().map(|row| Ok((crate::row::word(row, "session")?, decode(row)?))).collect()
    }

    /// Gives a session from one agent to another one; none on either side is no agent. Fails with
    /// `DriverChanged` when another one drives it than `from`, and with `SessionNotFound`.
    pub async fn pass_session(
        &self,
        session: SessionId,
        from: Option<&AgentName>,
        to: Option<&AgentName>,
        reason: &str,
        at: Timestamp,
    ) -> Result<Driver, StoreError> {
        self.set_driver(session, from, to, None, reason, at).await
    }

    /// The same for a person who takes it over until it is given back to `back`.
    pub async fn begin_turn(
        &self,
        session: SessionId,
        from: Option<&AgentName>,
        person: &AgentName,
        back: Option<&AgentName>,
        reason: &str,
        at: Timestamp,
    ) -> Result<Driver, StoreError> {
        let turn = HumanTurn { from: back.cloned() };
        self.set_driver(session, from, Some(person), Some(&turn), reason, at).await
    }

    /// The turns of people in the sessions of a node, of whatever owner and whatever became of them. It costs as much as
    /// there are turns.
    pub async fn list_turns(&self, node: NodeId) -> Result<Vec<(SessionId, Driver)>, StoreError> {
        let rows = sqlx::query(
            "select session, agent, fence, since, reason, gives_back_to from session_agents
             join sessions on session = id
             where gives_back_to is not null and node = $1 limit $2",
        )
        .bind(node.to_string())
        .bind(TURNS)
        .fetch_all(self.pool())
        .await?;
        rows.iter().map(|row| Ok((crate::row::word(row, "session")?, decode(row)?))).collect()
    }

    async fn set_driver(
        &self,
        session: SessionId,
        from: Option<&AgentName>,
        to: Option<&AgentName>,
        turn: Option<&HumanTurn>,
        reason: &str,
        at: Timestamp,
    ) -> Result<Driver, StoreError> {
        refuse_nul("a reason", reason)?;
        let mut write = self.write().await?;
        let owner = crate::sessions::fetch_row(write.connection(), session).await?.owner;
        let before = fetch(write.connection(), session).await?;
        let found = before.as_ref().and_then(|driver| driver.agent.clone());
        if found.as_ref() != from {
            return Err(StoreError::DriverChanged { found });
        }
        let fence = before.map_or(1, |driver| driver.fence + 1);
        sqlx::query(
            "insert into session_agents (session, agent, fence, since, reason, gives_back_to)
             values ($1, $2, $3, $4, $5, $6)
             on conflict (session) do update set agent = excluded.agent, fence = excluded.fence,
                 since = excluded.since, reason = excluded.reason,
                 gives_back_to = excluded.gives_back_to",
        )
        .bind(session.to_string())
        .bind(to.map_or("", AgentName::as_str))
        .bind(i64::try_from(fence).unwrap_or(i64::MAX))
        .bind(at.as_millisecond())
        .bind(reason)
        .bind(turn.map(|turn| turn.from.as_ref().map_or("", AgentName::as_str)))
        .execute(write.connection())
        .await?;
        let after = fetch(write.connection(), session).await?;
        write.changes_list(session, &owner);
        write.commit().await?;
        after.ok_or(StoreError::SessionNotFound { reference: session.to_string() })
    }
}

async fn fetch(
    connection: &mut PooledConnection,
    session: SessionId,
) -> Result<Option<Driver>, StoreError> {
    let row = sqlx::query(
        "select agent, fence, since, reason, gives_back_to from session_agents where session = $1",
    )
    .bind(session.to_string())
    .fetch_optional(connection)
    .await?;
    row.as_ref().map(decode).transpose()
}

fn decode(row: &AnyRow) -> Result<Driver, StoreError> {
    let agent: String = row.try_get("agent")?;
    let fence: i64 = row.try_get("fence")?;
    let gives_back_to: Option<String> = row.try_get("gives_back_to")?;
    Ok(Driver {
        agent: agent.parse().ok(),
        fence: u64::try_from(fence).unwrap_or_default(),
        since: instant(row, "since")?,
        reason: row.try_get("reason")?,
        turn: gives_back_to.map(|agent| HumanTurn { from: agent.parse().ok() }),
    })
}
