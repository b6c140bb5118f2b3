//! Parts become parcels, and parcels parts.
//!
//! The one idea: a part travels as it lies in the database, compressed already. One that only differs
//! a little from an older part of its place travels as that difference: a zstd frame whose prefix is
//! the older part (`zstd --patch-from`).

use crate::context::Sync;
use crate::error::SyncError;
use baton_api::sync::{Parcel, Wanted};
use baton_session::{Owner, Part, PartHash, PartRef, SessionId};
use baton_store::blocking::blocking;
use baton_store::{PackedPart, StoreError, clock};
use std::collections::HashMap;
use std::io::Read;

/// Bytes of parts in one body, before compression; a part that is larger travels alone.
const BATCH_BYTES: u64 = 8 << 20;
/// How many parts one body asks for or brings.
pub(super) const BATCH_PARTS: usize = 1000;
/// A part smaller than this travels whole: the difference would not be much smaller.
const DELTA_MIN: u64 = 2 << 10;
/// A part and the one before it that are larger than this together travel whole: both have to be in
/// memory.
const DELTA_MAX: u64 = 96 << 20;
/// How far back in the prefix a difference may look: all of it.
const WINDOW_LOG: u32 = 27;
const LEVEL: i32 = 3;

/// The parts that are asked for, if they are among these.
pub(super) async fn fetch_among(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    known: &HashMap<PartHash, PartRef>,
    wanted: &[Wanted],
) -> Result<Vec<Parcel>, SyncError> {
    let find = |hash: &PartHash| {
        known.get(hash).cloned().ok_or(SyncError::NotOfSession { part: *hash, session })
    };
    let parts = wanted.iter().map(|wanted| find(&wanted.part)).collect::<Result<Vec<_>, _>>()?;
    let total: u64 = parts.iter().map(|part| part.size).sum();
    if parts.len() > 1 && total > 2 * BATCH_BYTES {
        return Err(SyncError::BatchTooLarge { limit: 2 * BATCH_BYTES, found: total });
    }
    let packed = context.store.fetch_packed(owner, &parts).await?;
    let mut parcels = Vec::with_capacity(parts.len());
    for ((wanted, part), packed) in wanted.iter().zip(&parts).zip(packed) {
        let whole = packed?;
        let base = wanted.base.and_then(|base| known.get(&base)).filter(|base| pays(part, base));
        let delta = match base {
            Some(base) => delta(context, owner, part, base).await?,
            None => None,
        };
        parcels.push(match delta.filter(|(_, bytes)| bytes.len() < whole.packed.len()) {
            Some((base, bytes)) => Parcel { part: part.clone(), base: Some(base), bytes },
            None => Parcel { part: part.clone(), base: None, bytes: whole.packed },
        });
    }
    Ok(parcels)
}

/// Puts parts that arrived aside. Every one is what its hash says, and on disk when this returns; what
/// `look` made of each comes back in the same order.
pub async fn stage<T: Send + 'static>(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    parcels: Vec<Parcel>,
    look: impl Fn(&Part) -> T + Send + 'static,
) -> Result<Vec<T>, SyncError> {
    if parcels.is_empty() {
        return Ok(Vec::new());
    }
    let known = if parcels.iter().any(|parcel| parcel.base.is_some()) {
        known(context, owner, session).await?
    } else {
        HashMap::new()
    };
    let mut packed = Vec::with_capacity(parcels.len());
    for Parcel { part, base, bytes } in parcels {
        packed.push(match base {
            None => PackedPart { part, packed: bytes },
            Some(base) => {
                let lost = SyncError::NotOfSession { part: base, session };
                patched(context, owner, part, known.get(&base).ok_or(lost)?, bytes).await?
            }
        });
    }
    Ok(context.store.stage_and_look(owner, session, packed, clock::now(), look).await?)
}

/// Every part that a revision of the session names here, also one that was released.
pub(super) async fn known(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
) -> Result<HashMap<PartHash, PartRef>, SyncError> {
    let held = context.store.list_contents(owner, session).await?;
    let parts = held.into_iter().flat_map(|(_, snapshot)| snapshot.parts);
    Ok(parts.map(|part| (part.hash, part)).collect())
}

/// Whether a part travels as its difference from an older one.
pub(super) fn pays(part: &PartRef, base: &PartRef) -> bool {
    part.size >= DELTA_MIN && part.size + base.size <= DELTA_MAX && part.kind == base.kind
}

/// How a part differs from another one; none when the other one cannot be read.
async fn delta(
    context: &Sync,
    owner: &Owner,
    part: &PartRef,
    base: &PartRef,
) -> Result<Option<(PartHash, Vec<u8>)>, SyncError> {
    let both = [part.clone(), base.clone()];
    let read = context.store.fetch_parts(owner, &both).await?;
    let read: Result<Vec<Part>, StoreError> = read.into_iter().collect();
    let Ok([part, older]) = read.map_or_else(|_| Err(Vec::new()), <[Part; 2]>::try_from) else {
        return Ok(None);
    };
    let bytes = blocking(move || compress(&part.bytes, &older.bytes)).await?;
    Ok(bytes.map(|bytes| (base.hash, bytes)))
}

/// The part that differs so from another one.
async fn patched(
    context: &Sync,
    owner: &Owner,
    part: PartRef,
    base: &PartRef,
    delta: Vec<u8>,
) -> Result<PackedPart, SyncError> {
    if !pays(&part, base) {
        return Err(SyncError::BadDelta { part: part.hash });
    }
    let older = context.store.fetch_part(owner, base).await?;
    let hash = part.hash;
    let patched = move || {
        let bytes = decompress(&delta, &older.bytes, part.size)?;
        Some(PackedPart::said_to_be(part, &bytes))
    };
    blocking(patched).await?.ok_or(SyncError::BadDelta { part: hash })
}

fn compress(plain: &[u8], prefix: &[u8]) -> Option<Vec<u8>> {
    use std::io::Write;
    let mut encoder = zstd::stream::Encoder::with_ref_prefix(Vec::new(), LEVEL, prefix).ok()?;
    encoder.long_distance_matching(true).ok()?;
    encoder.window_log(WINDOW_LOG).ok()?;
    encoder.write_all(plain).ok()?;
    encoder.finish().ok()
}

/// At most `limit` bytes: a frame that holds more is refused.
fn decompress(delta: &[u8], prefix: &[u8], limit: u64) -> Option<Vec<u8>> {
    let mut decoder = zstd::stream::Decoder::with_ref_prefix(delta, prefix).ok()?;
    decoder.window_log_max(WINDOW_LOG).ok()?;
    let mut plain = Vec::new();
    decoder.take(limit + 1).read_to_end(&mut plain).ok()?;
    (plain.len() as u64 <= limit).then_some(plain)
}

/// Cuts what is wanted into bodies of a size that is quick to repeat.
pub(super) fn batches(
    wanted: Vec<Wanted>,
    announced: &HashMap<PartHash, PartRef>,
) -> Vec<Vec<Wanted>> {
    let mut batches: Vec<Vec<Wanted>> = Vec::new();
    let mut room = 0;
    for wanted in wanted {
        let size = announced.get(&wanted.part).map_or(0, |part| part.size);
        match batches.last_mut() {
            Some(batch) if size <= room && batch.len() < BATCH_PARTS => {
                batch.push(wanted);
                room -= size;
            }
            _ => {
                room = BATCH_BYTES.saturating_sub(size);
                batches.push(vec![wanted]);
            }
        }
    }
    batches
}
