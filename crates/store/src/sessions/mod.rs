//! Sessions as rows: `create fetch list`, and whether they are others than before (`mark`). What changes of one,
//! until it is deleted, is its `life`; `labels` are what it asks of its node.
//!
//! Times are kept to the millisecond.

mod labels;
mod life;

pub(crate) use life::delete;

use crate::error::StoreError;
use crate::pooled::PooledConnection;
use crate::quotas::Counted;
use crate::row::{
    MATCHES_MAX, behind_prefix, flag, instant, is_taken, page, parse_prefix, refuse_nul, word,
};
use crate::store::Store;
use baton_session::{Lifecycle, NodeId, Owner, Session, SessionId, SessionName};
use jiff::Timestamp;
use sqlx::Row;
use sqlx::any::AnyRow;

/// A query for whole sessions; the argument is what follows `from sessions`.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "select id, name, description, owner, node, headed, debug, lifecycle, created_at, \
             updated_at from sessions ",
            $rest
        )
    };
}

fn decode(row: &AnyRow) -> Result<Session, StoreError> {
    Ok(Session {
        id: word(row, "id")?,
        name: word::<SessionName>(row, "name")?,
        description: row.try_get("description")?,
        owner: word::<Owner>(row, "owner")?,
        node: word(row, "node")?,
        headed: flag(row, "headed")?,
        debug: flag(row, "debug")?,
        lifecycle: word(row, "lifecycle")?,
        created_at: instant(row, "created_at")?,
        updated_at: instant(row, "updated_at")?,
    })
}

/// The row of a session, of whatever owner and node.
pub(crate) async fn fetch_row(
    connection: &mut PooledConnection,
    id: SessionId,
) -> Result<Session, StoreError> {
    let row = sqlx::query(select!("where id = $1"))
        .bind(id.to_string())
        .fetch_optional(connection)
        .await?;
    decode(&row.ok_or_else(|| not_found(id))?)
}

fn not_found(id: SessionId) -> StoreError {
    StoreError::SessionNotFound { reference: id.to_string() }
}

impl Store {
    /// Makes a session. Fails with `NameTaken` when another of the owner's sessions that are not
    /// closed bears its name, with `IdTaken`, and with `QuotaReached`.
    pub async fn create_session(&self, session: &Session) -> Result<(), StoreError> {
        let mut write = self.write_to_take(Counted::Sessions, &session.owner).await?;
        insert(self, write.connection(), session).await?;
        write.changes_list(session.id, &session.owner);
        write.commit().await
    }
}

/// Adds the row of a session, if its owner may have one more.
pub(crate) async fn insert(
    store: &Store,
    connection: &mut PooledConnection,
    session: &Session,
) -> Result<(), StoreError> {
    refuse_nul("a description", &session.description)?;
    store.expect_place_for_session(connection, &session.owner).await?;
    let made = sqlx::query(
        "insert into sessions
         (id, name, description, owner, node, headed, debug, lifecycle, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         on conflict (id) do nothing",
    )
    .bind(session.id.to_string())
    .bind(session.name.as_str())
    .bind(&session.description)
    .bind(session.owner.as_str())
    .bind(session.node.to_string())
    .bind(i64::from(session.headed))
    .bind(i64::from(session.debug))
    .bind(session.lifecycle.as_str())
    .bind(session.created_at.as_millisecond())
    .bind(session.updated_at.as_millisecond())
    .execute(&mut *connection)
    .await;
    match made {
        Ok(done) if done.rows_affected() == 0 => {
            Err(StoreError::IdTaken { id: session.id.to_string() })
        }
        Ok(_) => Ok(()),
        Err(error) if is_taken(&error) => {
            Err(StoreError::NameTaken { name: session.name.to_string() })
        }
        Err(error) => Err(error.into()),
    }
}

/// The one of an owner's sessions that bears a name, by the index that lets only one bear it; and the newest of the
/// closed ones that bore it, by an index of their own.
const NAMED: &str = select!("where owner = $1 and name = $2 and lifecycle <> 'closed'");
const NAMED_CLOSED: &str =
    select!("where owner = $1 and name = $2 and lifecycle = 'closed' order by id desc limit 1");

impl Store {
    /// The owner's session with this id.
    pub async fn fetch_session(&self, owner: &Owner, id: SessionId) -> Result<Session, StoreError> {
        let row = sqlx::query(select!("where owner = $1 and id = $2"))
            .bind(owner.as_str())
            .bind(id.to_string())
            .fetch_optional(self.pool())
            .await?;
        decode(&row.ok_or_else(|| not_found(id))?)
    }

    /// The session with this id, of whatever owner and node; none when there is no such session.
    pub async fn fetch_any_session(&self, id: SessionId) -> Result<Option<Session>, StoreError> {
        let row = sqlx::query(select!("where id = $1"))
            .bind(id.to_string())
            .fetch_optional(self.pool())
            .await?;
        row.as_ref().map(decode).transpose()
    }

    /// The owner's session that a person means: by its whole id; by its name (if only closed ones
    /// bear it, the newest of them); or by the start of its id, at least four digits, when no other
    /// id starts so.
    pub async fn find_session(
        &self,
        owner: &Owner,
        reference: &str,
    ) -> Result<Session, StoreError> {
        if let Ok(id) = reference.parse() {
            return self.fetch_session(owner, id).await;
        }
        let unknown = || StoreError::SessionNotFound { reference: reference.to_owned() };
        if reference.contains('\0') {
            return Err(unknown());
        }
        if let Some(session) = self.find_by_name(owner, reference).await? {
            return Ok(session);
        }
        let prefix = parse_prefix(reference).ok_or_else(unknown)?;
        let mut sessions = self.find_by_prefix(owner, &prefix).await?;
        match sessions.len() {
            0 => Err(unknown()),
            1 => Ok(sessions.remove(0)),
            _ => Err(StoreError::Ambiguous {
                reference: reference.to_owned(),
                matches: sessions.iter().map(|session| session.id).collect(),
            }),
        }
    }

    async fn find_by_name(&self, owner: &Owner, name: &str) -> Result<Option<Session>, StoreError> {
        // A closed one that is resumed between the two questions is found by asking once more.
        for sql in [NAMED, NAMED_CLOSED, NAMED] {
            let row = sqlx::query(sql)
                .bind(owner.as_str())
                .bind(name)
                .fetch_optional(self.pool())
                .await?;
            if let Some(row) = row {
                return decode(&row).map(Some);
            }
        }
        Ok(None)
    }

    async fn find_by_prefix(
        &self,
        owner: &Owner,
        prefix: &str,
    ) -> Result<Vec<Session>, StoreError> {
        let sql = select!("where owner = $1 and id >= $2 and id < $3 order by id limit $4");
        let query = sqlx::query(sql).bind(owner.as_str()).bind(prefix);
        let query = query.bind(behind_prefix(prefix)).bind(MATCHES_MAX);
        self.pool().read_all(query, decode).await
    }
}

/// A page of an owner's sessions, and one of those in one state. Each has an index of its own, so that
/// the work is that of the page, however many sessions there are.
const PAGE: &str = select!("where owner = $1 and id < $2 order by id desc limit $3");
const PAGE_IN_STATE: &str =
    select!("where owner = $1 and id < $2 and lifecycle = $4 order by id desc limit $3");

/// A text that sorts behind every id, which begin with a digit or a letter up to `f`.
const BEHIND_ALL: &str = "g";

impl Store {
    /// Up to `limit` (at most 1001) of the owner's sessions, newest first: those older than
    /// `after`, if given, and in the state `lifecycle`, if given.
    pub async fn list_sessions(
        &self,
        owner: &Owner,
        lifecycle: Option<Lifecycle>,
        after: Option<SessionId>,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError> {
        let sql = if lifecycle.is_some() { PAGE_IN_STATE } else { PAGE };
        let before = after.map_or_else(|| BEHIND_ALL.to_owned(), |id| id.to_string());
        let mut query = sqlx::query(sql).bind(owner.as_str()).bind(before).bind(page(limit));
        if let Some(lifecycle) = lifecycle {
            query = query.bind(lifecycle.as_str());
        }
        self.pool().read_all(query, decode).await
    }

    /// Every active session of a node, of whatever owner, oldest first.
    pub async fn list_active_sessions(&self, node: NodeId) -> Result<Vec<Session>, StoreError> {
        let sql = select!("where node = $1 and lifecycle = 'active' order by id");
        self.pool().read_all(sqlx::query(sql).bind(node.to_string()), decode).await
    }

    /// Every session that a node holds, of whatever owner, oldest first: those that are active, and those that it was
    /// about to start. It costs as much as there are of these, and of leases that are held.
    pub async fn list_held_sessions(&self, node: NodeId) -> Result<Vec<Session>, StoreError> {
        let sql = select!(
            "where id in (
                 select id from sessions where node = $1 and lifecycle = 'active'
                 union select session from leases where node is not null and node = $1
             ) order by id"
        );
        self.pool().read_all(sqlx::query(sql).bind(node.to_string()), decode).await
    }

    /// Up to `limit` (at most 1001) sessions of a node whose leases were ended because it had fallen silent, at this
    /// time or later, and that nobody brought back: the term in which they were captured last is over, and nobody
    /// opened another one in which they were.
    pub async fn list_lapsed_sessions(
        &self,
        node: NodeId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError> {
        let sql = select!(
            "where node = $1 and lifecycle = 'recoverable' and updated_at >= $2 and exists (
                 select 1 from leases where leases.session = sessions.id and leases.node is null
                 and leases.term >
                     (select coalesce(max(term), 0) from snapshots where snapshots.session = sessions.id)
             ) order by id limit $3"
        );
        let query = sqlx::query(sql).bind(node.to_string()).bind(since.as_millisecond());
        self.pool().read_all(query.bind(page(limit)), decode).await
    }

    /// Up to `limit` (at most 1001) sessions of a node that are not active, of whatever owner, the one
    /// that changed last first.
    pub async fn list_resting_sessions(
        &self,
        node: NodeId,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError> {
        let sql = select!(
            "where node = $1 and lifecycle <> 'active' order by updated_at desc, id desc limit $2"
        );
        let query = sqlx::query(sql).bind(node.to_string()).bind(page(limit));
        self.pool().read_all(query, decode).await
    }
}

/// What the list of an owner's sessions was like: as long as none is made, deleted, renamed, moved to another state or
/// to another node, or passed to another agent, it is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionsMark(i64);

impl Store {
    /// What the list of an owner's sessions is like now, however long it is.
    pub async fn sessions_mark(&self, owner: &Owner) -> Result<SessionsMark, StoreError> {
        let changes = sqlx::query_scalar(
            "select cast(coalesce(sum(changes), 0) as bigint) from list_changes where owner = $1",
        )
        .bind(owner.as_str())
        .fetch_one(self.pool())
        .await?;
        Ok(SessionsMark(changes))
    }
}

/// Counts a change of an owner's list, which is of this session. The last digit of its id says in which row, so that
/// of sixteen who write at once for one owner most wait for nobody.
pub(crate) async fn count_list_change(
    connection: &mut PooledConnection,
    owner: &Owner,
    session: SessionId,
) -> Result<(), StoreError> {
    let slot = session.to_string().chars().last().and_then(|digit| digit.to_digit(16));
    let slot = i64::from(slot.unwrap_or_default());
    sqlx::query(
        "insert into list_changes (owner, slot, changes) values ($1, $2, 1)
         on conflict (owner, slot) do update set changes = list_changes.changes + 1",
    )
    .bind(owner.as_str())
    .bind(slot)
    .execute(connection)
    .await?;
    Ok(())
}

impl Store {
    /// The names here of the owner's sessions that are shared and have a row.
    pub async fn list_shared_names(
        &self,
        owner: &Owner,
    ) -> Result<Vec<(SessionId, SessionName)>, StoreError> {
        let rows = sqlx::query(
            "select sessions.id, sessions.name from sessions
             join shared_sessions on shared_sessions.session = sessions.id
             and shared_sessions.owner = sessions.owner
             where sessions.owner = $1",
        )
        .bind(owner.as_str())
        .fetch_all(self.pool())
        .await?;
        rows.iter().map(|row| Ok((word(row, "id")?, word(row, "name")?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, DatabaseUrl, Limits};
    use crate::master_key::MasterKey;
    use sqlx::Row;

    #[tokio::test]
    async fn a_page_and_a_name_are_found_without_looking_at_other_sessions() {
        let folder = tempfile::tempdir().unwrap();
        let database = DatabaseUrl::Sqlite(folder.path().join("baton.db"));
        let (key, limits) = (MasterKey::from_bytes([7; 32]), Limits::default());
        let store = Store::open(Config { database, key, limits }).await.unwrap();
        for (sql, found_by) in [
            (NAMED, "sessions_name (owner=? AND name=?)"),
            (NAMED_CLOSED, "sessions_closed_name (owner=? AND name=?)"),
            (PAGE, "sessions_owner (owner=? AND id<?)"),
            (PAGE_IN_STATE, "sessions_owner_lifecycle (owner=? AND lifecycle=? AND id<?)"),
        ] {
            let sql = sqlx::AssertSqlSafe(format!("explain query plan {sql}"));
            let steps = sqlx::query(sql).fetch_all(store.pool()).await.unwrap();
            let steps: Vec<String> = steps.iter().map(|row| row.get("detail")).collect();
            assert_eq!(steps, [format!("SEARCH sessions USING INDEX {found_by}")]);
        }
    }
}
