//! Parts as they travel: packed, which is what was sealed of them, so that neither node compresses or
//! decompresses what it only passes on.

use crate::blocking::blocking;
use crate::error::StoreError;
use crate::parts::{corrupt, missing, present};
use crate::seal::{Seal, pack};
use crate::store::Store;
use baton_session::{Owner, Part, PartRef};
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

    /// Packs what is said to be the bytes of a part: whoever takes it checks that.
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
    /// Several parts as they travel, in the same order; all of them are in memory at once. A part
    /// that is missing or whose seal is broken costs itself only; the outer error is a failure of the
    /// database. Whoever unpacks a part checks its length and its hash.
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

    /// Those of `parts` that the owner does not have, in the same order. One that is there may go
    /// before a snapshot names it: then that snapshot is refused with `PartMissing`, and whoever asks
    /// again is told of it.
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
