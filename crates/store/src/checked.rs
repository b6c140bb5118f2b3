//! What another node sent, checked to be what it is said to be, and sealed as it came.
//!
//! The one idea: the hash of a part is its name, so a part that has it is the one that was meant,
//! whoever sent it and on whatever way. That is why its bytes are hashed here once, and not again where
//! they are looked at.

use crate::config::Limits;
use crate::error::StoreError;
use crate::packed::PackedPart;
use crate::seal::{PartIds, Seal, unpack};
use baton_session::{Owner, Part, PartHash, PartRef};

/// A part that was checked and sealed.
pub(crate) struct Checked {
    /// Its id at rest.
    pub(crate) id: String,
    pub(crate) sealed: Vec<u8>,
}

/// Checks all parts and seals them, or refuses all. Each that is in order is shown to `look`; unpacked,
/// one is in memory at a time.
pub(crate) fn check_and_seal<T>(
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
