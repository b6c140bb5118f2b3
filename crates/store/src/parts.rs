//! Parts at rest: fetched, opened, and checked to be what was stored; and collected, once no snapshot names
//! them any more and they wait for none.
//!
//! A part is checked three times over: its seal, its length and its hash. One that fails costs
//! itself only. Each batch that is collected is a transaction under the owner's lock, so that it neither takes a
//! part from a snapshot that is being stored nor keeps writers waiting for long.

use crate::blocking::blocking;
use crate::error::StoreError;
use crate::pooled::PooledConnection;
use crate::row::{CHUNK, places, word};
use crate::seal::Seal;
use crate::store::Store;
use baton_session::{Owner, Part, PartHash, PartRef};
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// How many parts are fetched and opened at once.
const BATCH: usize = 100;

impl Store {
    /// The bytes of one part. Fails with `PartMissing`, `PartCorrupt` or `PartTooLarge`.
    pub async fn fetch_part(&self, owner: &Owner, part: &PartRef) -> Result<Part, StoreError> {
        let mut parts = self.fetch_parts(owner, std::slice::from_ref(part)).await?;
        parts.pop().unwrap_or_else(|| Err(missing(part)))
    }

    /// The bytes of several parts, in the same order. A part that is missing or corrupt costs
    /// itself only; the outer error is a failure of the database.
    pub async fn fetch_parts(
        &self,
        owner: &Owner,
        parts: &[PartRef],
    ) -> Result<Vec<Result<Part, StoreError>>, StoreError> {
        let mut found = Vec::with_capacity(parts.len());
        for batch in parts.chunks(BATCH) {
            found.extend(self.fetch_batch(owner, batch).await?);
        }
        Ok(found)
    }

    async fn fetch_batch(
        &self,
        owner: &Owner,
        parts: &[PartRef],
    ) -> Result<Vec<Result<Part, StoreError>>, StoreError> {
        let sealed = self.fetch_sealed_parts(owner, parts).await?;
        Ok(blocking(move || sealed.open()).await?)
    }

    /// The same parts, for a caller that opens them on a thread of its own.
    pub async fn fetch_sealed_parts(
        &self,
        owner: &Owner,
        parts: &[PartRef],
    ) -> Result<SealedParts, StoreError> {
        let names = self.seal().part_ids(owner);
        let wanted: Vec<(String, PartRef)> =
            parts.iter().map(|part| (names.id(part.kind, &part.hash), part.clone())).collect();
        let ids: BTreeSet<&String> = wanted.iter().map(|(id, _)| id).collect();
        let mut sealed = HashMap::with_capacity(ids.len());
        for some in ids.into_iter().collect::<Vec<_>>().chunks(BATCH) {
            sealed.extend(self.fetch_sealed(owner, some.iter().copied().collect()).await?);
        }
        let opener = Opener {
            seal: self.seal(),
            owner: owner.clone(),
            limit: self.inner.limits.part_bytes,
            sealed,
        };
        Ok(SealedParts { opener, wanted })
    }

    /// What is sealed, by id at rest; an id that is not there is left out.
    pub(crate) async fn fetch_sealed(
        &self,
        owner: &Owner,
        ids: BTreeSet<&String>,
    ) -> Result<HashMap<String, Vec<u8>>, StoreError> {
        let sql = format!(
            "select id, sealed from parts where owner = $1 and id in ({})",
            places(2, ids.len())
        );
        let mut query = sqlx::query(AssertSqlSafe(sql)).bind(owner.as_str()).persistent(false);
        for id in ids {
            query = query.bind(id.as_str());
        }
        let rows = query.fetch_all(&self.pool().patient()).await?;
        let decode = |row: &AnyRow| Ok((row.try_get("id")?, row.try_get("sealed")?));
        rows.iter().map(decode).collect()
    }
}

/// Which of these ids at rest the database has.
pub(crate) async fn present(
    connection: &mut PooledConnection,
    ids: &[&String],
) -> Result<BTreeSet<String>, StoreError> {
    let mut found = BTreeSet::new();
    for chunk in ids.chunks(CHUNK) {
        let sql = format!("select id from parts where id in ({})", places(1, chunk.len()));
        let mut query = sqlx::query_scalar(AssertSqlSafe(sql)).persistent(false);
        for id in chunk {
            query = query.bind(id.as_str());
        }
        found.extend(query.fetch_all(&mut *connection).await?);
    }
    Ok(found)
}

/// Parts as they are at rest.
pub struct SealedParts {
    opener: Opener,
    wanted: Vec<(String, PartRef)>,
}

impl SealedParts {
    /// Opens them, in the order in which they were asked for. Takes the processor.
    pub fn open(&self) -> Vec<Result<Part, StoreError>> {
        self.wanted.iter().map(|(id, part)| self.opener.open(id, part)).collect()
    }
}

struct Opener {
    seal: Arc<Seal>,
    owner: Owner,
    limit: u64,
    sealed: HashMap<String, Vec<u8>>,
}

impl Opener {
    fn open(&self, id: &str, part: &PartRef) -> Result<Part, StoreError> {
        let sealed = self.sealed.get(id).ok_or_else(|| missing(part))?;
        if part.size > self.limit {
            return Err(StoreError::PartTooLarge {
                kind: part.kind,
                name: part.name.clone(),
                found: part.size,
                limit: self.limit,
            });
        }
        let bytes = self
            .seal
            .open(sealed, &Seal::part_subject(&self.owner, id, part.kind), part.size)
            .map_err(|error| corrupt(part, error.to_string()))?;
        if bytes.len() as u64 != part.size {
            let why = format!("expected {} bytes, found {}", part.size, bytes.len());
            return Err(corrupt(part, why));
        }
        if PartHash::of(&bytes) != part.hash {
            return Err(corrupt(part, "its bytes are not those that were stored".to_owned()));
        }
        Ok(Part { kind: part.kind, name: part.name.clone(), bytes })
    }
}

/// A part that is not there.
pub(crate) fn missing(part: &PartRef) -> StoreError {
    StoreError::PartMissing { kind: part.kind, name: part.name.clone() }
}

/// A part that is not what was stored.
pub(crate) fn corrupt(part: &PartRef, why: String) -> StoreError {
    StoreError::PartCorrupt { kind: part.kind, name: part.name.clone(), why }
}

/// How many parts one transaction removes.
const COLLECTED_AT_ONCE: usize = 500;

/// A statement about parts, the argument, that nothing names; what follows is the rest of it.
macro_rules! unnamed {
    ($start:literal $(, $rest:literal)?) => {
        concat!(
            $start,
            " not exists (select 1 from part_spans where part_spans.part = parts.id) \
              and not exists (select 1 from staged_parts where staged_parts.part = parts.id)"
            $(, $rest)?
        )
    };
}
pub(crate) use unnamed;

impl Store {
    /// Removes every part that no snapshot names, of every owner. Returns how many went.
    pub async fn collect_parts(&self) -> Result<u64, StoreError> {
        let rows = sqlx::query(unnamed!("select distinct owner from parts where"))
            .fetch_all(&self.pool().patient())
            .await?;
        let mut gone = 0;
        for row in &rows {
            gone += self.collect_parts_of(&word(row, "owner")?).await?;
        }
        Ok(gone)
    }

    /// Removes every part of `owner` that no snapshot names.
    pub async fn collect_parts_of(&self, owner: &Owner) -> Result<u64, StoreError> {
        let mut gone = 0;
        loop {
            let batch = self.collect_batch(owner).await?;
            gone += batch;
            if batch < COLLECTED_AT_ONCE as u64 {
                tracing::debug!(gone, "collected parts");
                return Ok(gone);
            }
        }
    }

    async fn collect_batch(&self, owner: &Owner) -> Result<u64, StoreError> {
        let mut write = self.write_parts(owner).await?;
        let gone = sqlx::query(unnamed!(
            "delete from parts where id in (select id from parts where owner = $1 and",
            " limit $2)"
        ))
        .bind(owner.as_str())
        .bind(i64::try_from(COLLECTED_AT_ONCE).unwrap_or(i64::MAX))
        .execute(write.connection())
        .await?
        .rows_affected();
        write.commit().await?;
        Ok(gone)
    }
}

/// Removes those of `parts` that nothing names any more; the caller holds the owner's lock. Returns
/// whether that were all of them: what is more than a batch is left to others.
pub(crate) async fn collect_named(
    connection: &mut PooledConnection,
    parts: &[String],
) -> Result<bool, StoreError> {
    let batch = &parts[..parts.len().min(COLLECTED_AT_ONCE)];
    if batch.is_empty() {
        return Ok(true);
    }
    let sql = format!(unnamed!("delete from parts where id in ({}) and"), places(1, batch.len()));
    let query = sqlx::query(AssertSqlSafe(sql)).persistent(false);
    let query = batch.iter().fold(query, |query, part| query.bind(part.as_str()));
    query.execute(connection).await?;
    Ok(batch.len() == parts.len())
}
