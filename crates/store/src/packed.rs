//! Parts as they travel: packed, which is what was sealed of them, so that neither node compresses or
//! decompresses what it only passes on; checked where they arrive, and staged until a snapshot names them.
//!
//! The one idea: the hash of a part is its name, so a part that has it is the one that was meant, whichever
//! node sent it, on whatever way. That is why its bytes are hashed here once, and not again where they are
//! looked at. It is believed when it was unpacked and has the length and the hash that were named; then it is
//! sealed as it came. Nothing names it yet, so a row keeps it from being collected. What waits so is bounded
//! for each owner: a sender could fill the disk else.

use crate::blocking::blocking;
use crate::config::Limits;
use crate::error::StoreError;
use crate::parts::{collect_named, corrupt, missing, present};
use crate::pooled::PooledConnection;
use crate::row::word;
use crate::seal::{PartIds, Seal, pack, unpack};
use crate::store::Store;
use baton_session::{Owner, Part, PartHash, PartRef, SessionId};
use jiff::Timestamp;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// How many parts are fetched and decrypted at once.
const BATCH: usize = 100;

/// A part as it travels.
#[derive(Clone, PartialEq, Eq)]
pub struct PackedPart {
    /// Which one.
    pub part: PartRef,
    /// A tag byte and the bytes: 0 and the bytes as they are; or 1 and one zstd frame that says how
    /// long they are. Never longer than the former.
    pub packed: Vec<u8>,
}

impl PackedPart {
    /// Packs a part.
    pub fn of(part: &Part) -> Self {
        Self::said_to_be(part.reference(), &part.bytes)
    }

    /// Packs what is said to be the bytes of a part: the receiver checks that.
    pub fn said_to_be(part: PartRef, bytes: &[u8]) -> Self {
        Self { part, packed: pack(bytes) }
    }
}

impl fmt::Debug for PackedPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PartRef { kind, name, .. } = &self.part;
        write!(f, "PackedPart({kind} {name:?}, {} bytes)", self.packed.len())
    }
}

impl Store {
    /// Several parts as they travel, in the same order; all of them are in memory at once. A part that is
    /// missing or whose seal is broken costs itself only; the outer error is a failure of the database. The
    /// receiver that unpacks a part checks its length and its hash.
    pub async fn fetch_packed(
        &self,
        owner: &Owner,
        parts: &[PartRef],
    ) -> Result<Vec<Result<PackedPart, StoreError>>, StoreError> {
        let mut found = Vec::with_capacity(parts.len());
        for batch in parts.chunks(BATCH) {
            found.extend(self.fetch_packed_batch(owner, batch).await?);
        }
        Ok(found)
    }

    /// Those of `parts` that the owner does not have, in the same order. One that is there may go before a
    /// snapshot names it: then that snapshot is refused with `PartMissing`, and the next question tells of
    /// it.
    pub async fn missing_parts(
        &self,
        owner: &Owner,
        parts: &[PartRef],
    ) -> Result<Vec<PartRef>, StoreError> {
        let names = self.seal().part_ids(owner);
        let ids: Vec<String> = parts.iter().map(|part| names.id(part.kind, &part.hash)).collect();
        let mut connection = self.pool().acquire().await?;
        let present = present(&mut connection, &ids.iter().collect::<Vec<_>>()).await?;
        let missing = parts.iter().zip(&ids).filter(|(_, id)| !present.contains(*id));
        Ok(missing.map(|(part, _)| part.clone()).collect())
    }

    async fn fetch_packed_batch(
        &self,
        owner: &Owner,
        parts: &[PartRef],
    ) -> Result<Vec<Result<PackedPart, StoreError>>, StoreError> {
        let names = self.seal().part_ids(owner);
        let wanted: Vec<(String, PartRef)> =
            parts.iter().map(|part| (names.id(part.kind, &part.hash), part.clone())).collect();
        let ids: BTreeSet<&String> = wanted.iter().map(|(id, _)| id).collect();
        let sealed = self.fetch_sealed(owner, ids).await?;
        let (seal, owner) = (self.seal(), owner.clone());
        let opening = blocking(move || {
            wanted.into_iter().map(|(id, part)| open(&seal, &owner, &id, part, &sealed)).collect()
        });
        Ok(opening.await?)
    }
}

fn open(
    seal: &Seal,
    owner: &Owner,
    id: &str,
    part: PartRef,
    sealed: &HashMap<String, Vec<u8>>,
) -> Result<PackedPart, StoreError> {
    let sealed = sealed.get(id).ok_or_else(|| missing(&part))?;
    let packed = seal
        .open_packed(sealed, &Seal::part_subject(owner, id, part.kind))
        .map_err(|error| corrupt(&part, error.to_string()))?;
    Ok(PackedPart { part, packed })
}

/// A part that was checked and sealed.
struct Checked {
    /// Its id at rest.
    id: String,
    sealed: Vec<u8>,
}

/// Checks all parts and seals them, or refuses all. Each that is in order is shown to `look`; unpacked,
/// one is in memory at a time.
fn check_and_seal<T>(
    parts: Vec<PackedPart>,
    seal: &Seal,
    owner: &Owner,
    limits: &Limits,
    look: impl Fn(&Part) -> T,
) -> Result<(Vec<Checked>, Vec<T>), StoreError> {
    if parts.len() > limits.snapshot_parts {
        return Err(StoreError::TooManyParts { found: parts.len(), limit: limits.snapshot_parts });
    }
    let names = seal.part_ids(owner);
    let (mut checked, mut seen) = (Vec::with_capacity(parts.len()), Vec::new());
    for PackedPart { part, packed } in parts {
        seen.push(look(&check(&part, &packed, limits)?));
        checked.push(seal_one(&part, &packed, seal, owner, &names)?);
    }
    Ok((checked, seen))
}

fn seal_one(
    part: &PartRef,
    packed: &[u8],
    seal: &Seal,
    owner: &Owner,
    names: &PartIds,
) -> Result<Checked, StoreError> {
    let id = names.id(part.kind, &part.hash);
    let sealed = seal
        .seal_packed(packed, &Seal::part_subject(owner, &id, part.kind))
        .map_err(|error| refused(part, error.to_string()))?;
    Ok(Checked { id, sealed })
}

/// Unpacks a part, which takes no more memory than it is said to have bytes, and looks at it.
fn check(part: &PartRef, packed: &[u8], limits: &Limits) -> Result<Part, StoreError> {
    if part.size > limits.part_bytes {
        return Err(StoreError::PartTooLarge {
            kind: part.kind,
            name: part.name.clone(),
            found: part.size,
            limit: limits.part_bytes,
        });
    }
    // As it is, with its tag, a part is one byte longer.
    let (found, most) = (packed.len() as u64, part.size + 1);
    if found > most {
        return Err(refused(part, format!("expected at most {most} bytes packed, found {found}")));
    }
    let bytes = unpack(packed, part.size).map_err(|error| refused(part, error.to_string()))?;
    if bytes.len() as u64 != part.size {
        let why = format!("expected {} bytes, found {}", part.size, bytes.len());
        return Err(refused(part, why));
    }
    if PartHash::of(&bytes) != part.hash {
        return Err(refused(
            part,
            format!("expected the bytes with hash {}, found others", part.hash),
        ));
    }
    Ok(Part { kind: part.kind, name: part.name.clone(), bytes })
}

fn refused(part: &PartRef, why: String) -> StoreError {
    StoreError::PartRefused { kind: part.kind, name: part.name.clone(), why }
}

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

    /// The same, and shows each part to `look` once it was unpacked and checked, so that the caller need not
    /// read it back to know what it holds. What `look` made of them comes back in the order of the parts,
    /// when all of them are on disk.
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
    connection: &mut PooledConnection,
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
    connection: &mut PooledConnection,
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
    connection: &mut PooledConnection,
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
async fn staged_bytes(connection: &mut PooledConnection, owner: &Owner) -> Result<u64, StoreError> {
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
