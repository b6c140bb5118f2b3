//! API keys: who may do what, of whose secret only the SHA-256 is here; and the audit log: who did what, and
//! how it ended. Entries are added and read, never changed: the schema refuses it to everybody.
//!
//! Among them are the local keys: those of the owner `local` that the data folders of nodes hold.

use crate::error::StoreError;
use crate::pooled::PooledConnection;
use crate::row::{instant, is_taken, maybe_instant, maybe_word, page, refuse_nul, word};
use crate::store::Store;
use baton_session::scope::UnknownScope;
use baton_session::{AuditId, AuditOutcome, Fingerprint, NodeId, Owner, Scope};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::Row;
use sqlx::any::AnyRow;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

/// A key of the API, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKey {
    /// Names it for life.
    pub id: String,
    /// Unique among the owner's keys that are not revoked.
    pub name: String,
    /// For whom it acts.
    pub owner: Owner,
    /// What it may do.
    pub scopes: BTreeSet<Scope>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
    /// The node for which alone it was made; none when it is for any caller.
    pub for_node: Option<Fingerprint>,
}

/// A key as it was found by its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundKey {
    /// The key.
    pub key: ApiKey,
    /// The name of the peer that shows it, when that is given, or gives, a part of sessions only.
    pub limited_peer: Option<String>,
}

impl Store {
    /// Stores a key under the SHA-256 of its secret. Fails with `KeyNameTaken` when another of the
    /// owner's keys that are not revoked bears its name, and with `IdTaken`.
    pub async fn create_key(&self, key: &ApiKey, secret_hash: [u8; 32]) -> Result<(), StoreError> {
        refuse_nul("a key's id", &key.id)?;
        refuse_nul("a key's name", &key.name)?;
        let scopes: Vec<&str> = key.scopes.iter().map(|scope| scope.as_str()).collect();
        let mut write = self.write().await?;
        let made = sqlx::query(
            "insert into api_keys (id, owner, name, scopes, secret_hash, created_at, revoked_at,
                 for_node)
             values ($1, $2, $3, $4, $5, $6, $7, $8)
             on conflict (id) do nothing",
        )
        .bind(&key.id)
        .bind(key.owner.as_str())
        .bind(&key.name)
        .bind(scopes.join(" "))
        .bind(secret_hash.as_slice())
        .bind(key.created_at.as_millisecond())
        .bind(key.revoked_at.map(Timestamp::as_millisecond))
        .bind(key.for_node.map(|node| node.to_string()))
        .execute(write.connection())
        .await;
        match made {
            Ok(done) if done.rows_affected() == 0 => {
                Err(StoreError::IdTaken { id: key.id.clone() })
            }
            Ok(_) => write.commit().await,
            Err(error) if is_taken(&error) => {
                Err(StoreError::KeyNameTaken { name: key.name.clone() })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The key whose secret has this SHA-256; nothing when it is revoked or unknown.
    pub async fn find_key(&self, secret_hash: [u8; 32]) -> Result<Option<FoundKey>, StoreError> {
        let row = sqlx::query(
            "select id, owner, name, scopes, created_at, revoked_at, for_node,
                 (select peers.name from peers where peers.owner = api_keys.owner
                     and peers.api_key = api_keys.id and peers.limits is not null) as limited_peer
             from api_keys where secret_hash = $1 and revoked_at is null",
        )
        .bind(secret_hash.as_slice())
        .fetch_optional(self.pool())
        .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(FoundKey { key: decode(&row)?, limited_peer: row.try_get("limited_peer")? }))
    }

    /// Whether a key of the owner opens anything by itself: it is there, not revoked, and not that of a peer
    /// with limits.
    pub async fn is_key_good(&self, owner: &Owner, id: &str) -> Result<bool, StoreError> {
        let found: i64 = sqlx::query_scalar(
            "select count(*) from api_keys where owner = $1 and id = $2 and revoked_at is null
             and not exists (select 1 from peers where peers.owner = api_keys.owner
                 and peers.api_key = api_keys.id and peers.limits is not null)",
        )
        .bind(owner.as_str())
        .bind(id)
        .fetch_one(self.pool())
        .await?;
        Ok(found > 0)
    }

    /// The node for which alone a key of the owner was made; none when it is for any caller, or is no key of
    /// ours.
    pub async fn key_is_for(
        &self,
        owner: &Owner,
        id: &str,
    ) -> Result<Option<Fingerprint>, StoreError> {
        let row = sqlx::query("select for_node from api_keys where owner = $1 and id = $2")
            .bind(owner.as_str())
            .bind(id)
            .fetch_optional(self.pool())
            .await?;
        row.map_or(Ok(None), |row| maybe_word(&row, "for_node"))
    }

    /// The owner's keys, revoked ones too, oldest first.
    pub async fn list_keys(&self, owner: &Owner) -> Result<Vec<ApiKey>, StoreError> {
        let rows = sqlx::query(
            "select id, owner, name, scopes, created_at, revoked_at, for_node from api_keys
             where owner = $1 order by created_at, id",
        )
        .bind(owner.as_str())
        .fetch_all(self.pool())
        .await?;
        rows.iter().map(decode).collect()
    }

    /// Revokes a key of the owner. One that is revoked stays so, with its first instant. Fails with
    /// `KeyNotFound`.
    pub async fn revoke_key(
        &self,
        owner: &Owner,
        id: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        refuse_nul("a key's id", id)?;
        let mut write = self.write().await?;
        let revoked = sqlx::query(
            "update api_keys set revoked_at = coalesce(revoked_at, $3)
             where owner = $1 and id = $2",
        )
        .bind(owner.as_str())
        .bind(id)
        .bind(at.as_millisecond())
        .execute(write.connection())
        .await?;
        if revoked.rows_affected() == 0 {
            return Err(StoreError::KeyNotFound { id: id.to_owned() });
        }
        write.commit().await
    }
}

impl Store {
    /// Removes the keys whose ids begin so, but for those that are kept; returns how many that were. It is for keys
    /// that a node makes for a while and that nobody has in hand: of all others the row stays, revoked.
    pub async fn remove_keys(
        &self,
        beginning: &str,
        kept: &BTreeSet<String>,
    ) -> Result<usize, StoreError> {
        refuse_nul("the beginning of a key's id", beginning)?;
        let length = i64::try_from(beginning.chars().count()).unwrap_or(i64::MAX);
        let mut write = self.write().await?;
        let rows =
            sqlx::query("select id from api_keys where substr(id, 1, cast($1 as integer)) = $2")
                .bind(length)
                .bind(beginning)
                .fetch_all(&mut *write.connection())
                .await?;
        let found: Vec<String> =
            rows.iter().map(|row| row.try_get("id")).collect::<Result<_, _>>()?;
        let gone: Vec<String> = found.into_iter().filter(|id| !kept.contains(id)).collect();
        for id in &gone {
            sqlx::query("delete from api_keys where id = $1")
                .bind(id)
                .execute(&mut *write.connection())
                .await?;
        }
        write.commit().await?;
        Ok(gone.len())
    }
}

fn decode(row: &AnyRow) -> Result<ApiKey, StoreError> {
    let scopes: String = row.try_get("scopes")?;
    let scopes = scopes.split_whitespace().map(str::parse).collect::<Result<_, UnknownScope>>();
    Ok(ApiKey {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        owner: word(row, "owner")?,
        scopes: scopes.map_err(|error| StoreError::InvalidRow {
            column: "scopes",
            expected: error.to_string(),
            found: "another word".to_owned(),
        })?,
        created_at: instant(row, "created_at")?,
        revoked_at: maybe_instant(row, "revoked_at")?,
        for_node: maybe_word(row, "for_node")?,
    })
}

/// What the ids of keys begin with that nodes make for the pages of people, and of which nobody has the secret.
pub const PERSON_KEY: &str = "person_";

/// The name of the key among those of the owner `local`.
const LOCAL_NAME: &str = "local-admin";

/// The name of a node's local key. A node that shares its database with others, `shared_by`, has a key of
/// its own.
pub fn local_key_name(shared_by: Option<NodeId>) -> String {
    shared_by.map_or(LOCAL_NAME.to_owned(), |node| format!("{LOCAL_NAME}-{node}"))
}

/// Whether a key of this name is a node's local one.
pub fn is_local_key_name(name: &str) -> bool {
    let node = name.strip_prefix(LOCAL_NAME).and_then(|rest| rest.strip_prefix('-'));
    name == LOCAL_NAME || node.is_some_and(|node| node.parse::<NodeId>().is_ok())
}

impl Store {
    /// Revokes the local key of this name, and notes that.
    pub async fn revoke_local_key(&self, name: &str, at: Timestamp) -> Result<(), StoreError> {
        self.revoke_local(at, |key| key.name == name).await
    }

    /// Revokes the local keys of all nodes, and notes that: what is restored belongs to a new one, and the
    /// folders of the others may still hold their keys.
    pub async fn revoke_local_keys(&self, at: Timestamp) -> Result<(), StoreError> {
        self.revoke_local(at, |key| is_local_key_name(&key.name)).await
    }

    /// Revokes those that are not revoked yet.
    async fn revoke_local(
        &self,
        at: Timestamp,
        is_meant: impl Fn(&ApiKey) -> bool,
    ) -> Result<(), StoreError> {
        let keys = self.list_keys(&Owner::local()).await?;
        for key in keys.into_iter().filter(|key| key.revoked_at.is_none() && is_meant(key)) {
            self.revoke_key(&key.owner, &key.id, at).await?;
            self.append_audit(&revoked(key, at)).await?;
        }
        Ok(())
    }
}

/// Revokes the local key of a node, and notes that, within a transaction: the data folder that holds it may still be
/// somewhere.
pub(crate) async fn revoke_local_key_of(
    connection: &mut PooledConnection,
    node: NodeId,
    at: Timestamp,
) -> Result<(), StoreError> {
    let rows = sqlx::query(
        "update api_keys set revoked_at = $1
         where owner = $2 and name = $3 and revoked_at is null
         returning id, owner, name, scopes, created_at, revoked_at, for_node",
    )
    .bind(at.as_millisecond())
    .bind(Owner::local().as_str())
    .bind(local_key_name(Some(node)))
    .fetch_all(&mut *connection)
    .await?;
    for row in &rows {
        insert_entry(connection, &revoked(decode(row)?, at)).await?;
    }
    Ok(())
}

fn revoked(key: ApiKey, at: Timestamp) -> AuditEntry {
    AuditEntry {
        id: AuditEntry::next_id(at),
        at,
        owner: key.owner,
        actor: AuditEntry::NODE.to_owned(),
        action: AuditEntry::REVOKE_KEY.to_owned(),
        subject: key.id,
        outcome: AuditOutcome::Done,
        detail: serde_json::json!({ "name": key.name }).to_string(),
    }
}

/// One line of the audit log. None of its texts may hold a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Sorts by the time the entry was made.
    pub id: AuditId,
    /// When.
    pub at: Timestamp,
    /// To whom belongs what it was done to.
    pub owner: Owner,
    /// Who did it: an API key, or the node itself.
    pub actor: String,
    /// What was done, such as `session.resume`.
    pub action: String,
    /// What it was done to, such as a session's id; empty when there is no such thing.
    pub subject: String,
    /// How it ended.
    pub outcome: AuditOutcome,
    /// More about it, as JSON.
    pub detail: String,
}

impl AuditEntry {
    /// Who does what a node does at its start, or on its own account.
    pub const NODE: &str = "node";
    /// That a key was revoked.
    pub const REVOKE_KEY: &str = "key.revoke";

    /// An id behind all those that this process made before: entries of one millisecond, and those of a
    /// clock that was set back, sort as they were made.
    pub fn next_id(at: Timestamp) -> AuditId {
        /// The last id: its millisecond, and how many came before it in that.
        static LAST: AtomicU64 = AtomicU64::new(0);
        let millis = u64::try_from(at.as_millisecond()).unwrap_or_default();
        let after = |last: u64| (millis << 16).max(last + 1);
        let last =
            LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(after(last)));
        let id = after(last.unwrap_or_else(|unchanged| unchanged));
        let millis = i64::try_from(id >> 16).unwrap_or_default();
        let mut bits: [u8; 10] = rand::random();
        // The version and the variant of the id overwrite parts of the bytes 0 and 2.
        (bits[0], bits[1], bits[2]) = (0, 0, 0);
        bits[3..5].copy_from_slice(&id.to_be_bytes()[6..]);
        AuditId::new(Timestamp::from_millisecond(millis).unwrap_or(at), bits)
    }
}

/// A page of entries, newest first.
macro_rules! select {
    ($whose:literal) => {
        concat!(
            "select id, at, owner, actor, action, subject, outcome, detail from audit where ",
            $whose,
            " and ($2 = '' or id < $2) order by id desc limit $3"
        )
    };
}

impl Store {
    /// Adds an entry; it is on disk when this returns. Fails with `IdTaken`.
    pub async fn append_audit(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        refuse_nul("an audit entry's actor", &entry.actor)?;
        refuse_nul("an audit entry's action", &entry.action)?;
        refuse_nul("an audit entry's subject", &entry.subject)?;
        refuse_nul("an audit entry's detail", &entry.detail)?;
        let mut write = self.write().await?;
        match insert_entry(write.connection(), entry).await {
            Ok(()) => write.commit().await,
            Err(error) if is_taken(&error) => Err(StoreError::IdTaken { id: entry.id.to_string() }),
            Err(error) => Err(error.into()),
        }
    }

    /// Up to `limit` (at most 1001) entries, newest first: those of one owner, or of all, that were
    /// made before `after`, if given.
    pub async fn list_audit(
        &self,
        owner: Option<&Owner>,
        after: Option<AuditId>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        // Two texts, because only the first can use the index on owners. An empty text means "the newest".
        let rows = sqlx::query(match owner {
            Some(_) => select!("owner = $1"),
            None => select!("$1 = ''"),
        })
        .bind(owner.map(Owner::as_str).unwrap_or_default())
        .bind(after.map(|id| id.to_string()).unwrap_or_default())
        .bind(page(limit))
        .fetch_all(self.pool())
        .await?;
        rows.iter().map(decode_entry).collect()
    }
}

async fn insert_entry(connection: &mut PooledConnection, entry: &AuditEntry) -> sqlx::Result<()> {
    let query = sqlx::query(
        "insert into audit (id, at, owner, actor, action, subject, outcome, detail)
         values ($1, $2, $3, $4, $5, $6, $7, $8)",
    );
    query
        .bind(entry.id.to_string())
        .bind(entry.at.as_millisecond())
        .bind(entry.owner.as_str())
        .bind(&entry.actor)
        .bind(&entry.action)
        .bind(&entry.subject)
        .bind(entry.outcome.as_str())
        .bind(&entry.detail)
        .execute(connection)
        .await?;
    Ok(())
}

fn decode_entry(row: &AnyRow) -> Result<AuditEntry, StoreError> {
    Ok(AuditEntry {
        id: word(row, "id")?,
        at: instant(row, "at")?,
        owner: word(row, "owner")?,
        actor: row.try_get("actor")?,
        action: row.try_get("action")?,
        subject: row.try_get("subject")?,
        outcome: word(row, "outcome")?,
        detail: row.try_get("detail")?,
    })
}

#[cfg(test)]
mod tests {
    use super::AuditEntry;
    use jiff::{SignedDuration, Timestamp};

    #[test]
    fn entries_sort_as_they_were_made_whatever_the_clock_says() {
        let noon: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let (tomorrow, before) =
            (noon + SignedDuration::from_hours(24), noon - SignedDuration::from_hours(1));
        let clock = [noon, tomorrow, noon, before];
        let ids: Vec<String> = clock
            .iter()
            .flat_map(|at| (0..300).map(|_| AuditEntry::next_id(*at).to_string()))
            .collect();
        assert!(ids.is_sorted());
        assert!(ids.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
