//! The audit log: who did what, and how it ended. Entries are added and read, never changed: the
//! schema refuses it to everybody.

use crate::error::StoreError;
use crate::fault::is_taken;
use crate::row::{instant, page, refuse_nul, word};
use crate::store::Store;
use baton_session::{AuditId, AuditOutcome, Owner};
use jiff::Timestamp;
use sqlx::Row;
use sqlx::any::AnyRow;
use std::sync::atomic::{AtomicU64, Ordering};

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
        let added = sqlx::query(
            "insert into audit (id, at, owner, actor, action, subject, outcome, detail)
             values ($1, $2, $3, $4, $5, $6, $7, $8)",
        )
        .bind(entry.id.to_string())
        .bind(entry.at.as_millisecond())
        .bind(entry.owner.as_str())
        .bind(&entry.actor)
        .bind(&entry.action)
        .bind(&entry.subject)
        .bind(entry.outcome.as_str())
        .bind(&entry.detail)
        .execute(write.connection())
        .await;
        match added {
            Ok(_) => write.commit().await,
            Err(error) if is_taken(&error) => Err(StoreError::IdTaken { id: entry.id.to_string() }),
            Err(error) => Err(error.into()),
        }
    }

    /// Up to `limit` (at most 1000) entries, newest first: those of one owner, or of all, that were
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
        rows.iter().map(decode).collect()
    }
}

fn decode(row: &AnyRow) -> Result<AuditEntry, StoreError> {
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
