//! Lists what an owner shares, all of it at one moment.

use super::Generation;
use super::sealed::Belongs;
use crate::blocking::blocking;
use crate::error::StoreError;
use crate::row::word;
use crate::store::Store;
use baton_session::{Owner, SessionId};
use jiff::Timestamp;
use sqlx::Row;
use sqlx::any::AnyRow;

impl Store {
    /// What lists show of every session that an owner shares, by id, and the generation of the whole.
    /// An entry that cannot be read is left out, with a warning in the log.
    pub async fn list_entries(
        &self,
        owner: &Owner,
    ) -> Result<(Generation, Vec<(SessionId, Vec<u8>)>), StoreError> {
        // One statement, so that the generation is that of the entries.
        let rows = sqlx::query(
            "select sync_owners.generation as generation, shared_sessions.session as session,
                 shared_sessions.entry as entry
             from sync_owners
             left join shared_sessions on shared_sessions.owner = sync_owners.owner
             where sync_owners.owner = $1 order by shared_sessions.session",
        )
        .bind(owner.as_str())
        .fetch_all(self.pool())
        .await?;
        let Some(first) = rows.first() else { return Ok((Generation::default(), Vec::new())) };
        let generation = Generation(first.try_get("generation")?);
        let found = rows.iter().filter_map(|row| entry(row, owner).transpose());
        let sealed: Vec<(Belongs, Vec<u8>)> = found.collect::<Result<_, _>>()?;
        let seal = self.seal();
        let opened = blocking(move || {
            let open = |(belongs, sealed): (Belongs, Vec<u8>)| {
                let entry = belongs.open_entry(&seal, &sealed);
                Some((belongs.session, entry.inspect_err(warn).ok()?))
            };
            sealed.into_iter().filter_map(open).collect()
        });
        Ok((generation, opened.await?))
    }

    /// The sessions of every owner of which nothing that is shared has changed since an instant, by owner
    /// and id.
    pub async fn list_quiet(
        &self,
        since: Timestamp,
    ) -> Result<Vec<(Owner, SessionId)>, StoreError> {
        let rows = sqlx::query(
            "select owner, session from shared_sessions where updated_at <= $1
             order by owner, session",
        )
        .bind(since.as_millisecond())
        .fetch_all(self.pool())
        .await?;
        rows.iter().map(|row| Ok((word(row, "owner")?, word(row, "session")?))).collect()
    }
}

/// The session of a row, with its sealed entry; none when the owner shares nothing any more.
fn entry(row: &AnyRow, owner: &Owner) -> Result<Option<(Belongs, Vec<u8>)>, StoreError> {
    let Some(sealed) = row.try_get::<Option<Vec<u8>>, _>("entry")? else { return Ok(None) };
    Ok(Some((Belongs { owner: owner.clone(), session: word(row, "session")? }, sealed)))
}

fn warn(error: &StoreError) {
    tracing::warn!(%error, "left a session out of what is shared");
}
