//! Staged parts: those that came from another node before the snapshot that will name them.
//!
//! The one idea: what another node sends is believed when it was unpacked and has the length and the
//! hash that were named; then it is sealed as it came. Nothing names it yet, so a row keeps it from
//! being collected. What waits so is bounded for each owner: whoever may send could fill the disk else.

use crate::blocking::blocking;
use crate::checked::{Checked, check_and_seal};
use crate::collect::collect_named;
use crate::error::StoreError;
use crate::packed::PackedPart;
use crate::row::word;
use crate::store::Store;
use baton_session::{Owner, Part, SessionId};
use jiff::Timestamp;
use sqlx::AnyConnection;

impl Store {
    /// Stores parts for a snapshot of `session` that is to come: all of them or none, and storing
    /// them once more changes nothing. They stay until a snapshot names them or
    /// [`expire_staged`](Self::expire_staged) lets them go. Fails with `PartRefused` when one is not
    /// what it is said to be, and with `PartTooLarge`, `TooManyParts` and `TooManyStaged`.
    pub async fn stage_parts(
        &self,
        owner: &Owner,
        session: SessionId,
        parts: Vec<PackedPart>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.stage_and_look(owner, session, parts, now, |_| ()).await.map(drop)
    }

    /// The same, and shows each part to `look` once it was unpacked and checked, so that nobody has to
    /// read it back to know what it holds. What `look` made of them comes back in the order of the
    /// parts, when all of them are on disk.
    pub async fn stage_and_look<T: Send + 'static>(
        &self,
        owner: &Owner,
        session: SessionId,
        parts: Vec<PackedPart>,
        now: Timestamp,
        look: impl Fn(&Part) -> T + Send + 'static,
    ) -> Result<Vec<T>, StoreError> {
        let (seal, limits, whose) = (self.seal(), self.inner.limits, owner.clone());
        let checked = move || check_and_seal(parts, &seal, &whose, &limits, look);
        let (checked, seen) = blocking(checked).await??;
        let mut write = self.write_parts(owner).await?;
        for part in checked {
            let id = part.id.clone();
            insert_part(write.connection(), owner, part).await?;
            stage(write.connection(), owner, session, &id, now).await?;
        }
        let found = staged_bytes(write.connection(), owner).await?;
        if found > limits.staged_bytes {
            return Err(StoreError::TooManyStaged { found, limit: limits.staged_bytes });
        }
        write.commit().await?;
        Ok(seen)
    }

    /// Lets go of what was staged before an instant and named by no snapshot since. Returns how many
    /// parts are staged no longer.
    pub async fn expire_staged(&self, before: Timestamp) -> Result<u64, StoreError> {
        let rows = sqlx::query("select distinct owner from staged_parts where staged_at < $1")
            .bind(before.as_millisecond())
            .fetch_all(self.pool())
            .await?;
        let mut gone = 0;
        for row in &rows {
            let owner: Owner = word(row, "owner")?;
            let mut write = self.write_parts(&owner).await?;
            let done = sqlx::query("delete from staged_parts where owner = $1 and staged_at < $2")
                .bind(owner.as_str())
                .bind(before.as_millisecond())
                .execute(write.connection())
                .await?;
            write.commit().await?;
            gone += done.rows_affected();
            self.collect_parts_of(&owner).await?;
        }
        Ok(gone)
    }
}

/// Ends the staging of a session's parts, and removes those that no snapshot names; whether that were
/// all of them. The caller holds the owner's lock.
pub(crate) async fn unstage(
    connection: &mut AnyConnection,
    owner: &Owner,
    session: SessionId,
) -> Result<bool, StoreError> {
    let left: Vec<String> = sqlx::query_scalar(
        "select part from staged_parts where owner = $1 and session = $2 and not exists (
             select 1 from part_spans where part_spans.part = staged_parts.part
         )",
    )
    .bind(owner.as_str())
    .bind(session.to_string())
    .fetch_all(&mut *connection)
    .await?;
    sqlx::query("delete from staged_parts where owner = $1 and session = $2")
        .bind(owner.as_str())
        .bind(session.to_string())
        .execute(&mut *connection)
        .await?;
    collect_named(connection, &left).await
}

/// One that is there already is written again: it may be damaged.
async fn insert_part(
    connection: &mut AnyConnection,
    owner: &Owner,
    part: Checked,
) -> Result<(), StoreError> {
    sqlx::query(
        "insert into parts (id, owner, sealed) values ($1, $2, $3)
         on conflict (id) do update set sealed = excluded.sealed",
    )
    .bind(part.id)
    .bind(owner.as_str())
    .bind(part.sealed)
    .execute(connection)
    .await?;
    Ok(())
}

async fn stage(
    connection: &mut AnyConnection,
    owner: &Owner,
    session: SessionId,
    part: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    sqlx::query(
        "insert into staged_parts (owner, session, part, staged_at) values ($1, $2, $3, $4)
         on conflict (owner, session, part) do update set staged_at = excluded.staged_at",
    )
    .bind(owner.as_str())
    .bind(session.to_string())
    .bind(part)
    .bind(now.as_millisecond())
    .execute(connection)
    .await?;
    Ok(())
}

/// The bytes of an owner's parts that wait, those that a snapshot names already left out.
async fn staged_bytes(connection: &mut AnyConnection, owner: &Owner) -> Result<u64, StoreError> {
    let found: i64 = sqlx::query_scalar(
        "select coalesce(sum(length(sealed)), 0) from parts
         where owner = $1 and id in (select part from staged_parts where owner = $1)
         and not exists (select 1 from part_spans where part_spans.part = parts.id)",
    )
    .bind(owner.as_str())
    .fetch_one(connection)
    .await?;
    Ok(u64::try_from(found).unwrap_or_default())
}
