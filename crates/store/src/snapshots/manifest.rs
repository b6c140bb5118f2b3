//! The list of parts of a snapshot, as it is sealed: JSON rows `[kind, name, hash, size]`.

use crate::seal::{Seal, SealError};
use baton_session::{Owner, PartHash, PartKind, PartRef, SessionId, SnapshotId};
use serde::{Deserialize, Serialize};

/// The most bytes that a list of parts may have: 20,000 parts with names of 3 kB each.
const MANIFEST_MAX: u64 = 64 << 20;

/// Which snapshot a manifest belongs to. It opens for no other.
pub(super) struct Belongs<'a> {
    pub(super) owner: &'a Owner,
    pub(super) session: SessionId,
    pub(super) snapshot: SnapshotId,
}

#[derive(Serialize, Deserialize)]
struct Line(PartKind, String, String, u64);

/// Seals a list of parts.
pub(super) fn seal(seal: &Seal, to: &Belongs, parts: &[PartRef]) -> Result<Vec<u8>, SealError> {
    let lines: Vec<Line> = parts
        .iter()
        .map(|part| Line(part.kind, part.name.clone(), part.hash.to_string(), part.size))
        .collect();
    let plain = serde_json::to_vec(&lines).unwrap_or_default();
    // What could not be opened again must not be stored.
    if plain.len() as u64 > MANIFEST_MAX {
        return Err(SealError::TooLarge { limit: MANIFEST_MAX });
    }
    seal.seal(&plain, &subject(to).each_ref().map(String::as_str))
}

/// Opens a list of parts; the error says what is wrong with it.
pub(super) fn open(seal: &Seal, to: &Belongs, sealed: &[u8]) -> Result<Vec<PartRef>, String> {
    let plain = seal
        .open(sealed, &subject(to).each_ref().map(String::as_str), MANIFEST_MAX)
        .map_err(|error| error.to_string())?;
    let lines: Vec<Line> = serde_json::from_slice(&plain)
        .map_err(|error| format!("expected a list of parts: {error}"))?;
    lines.into_iter().map(reference).collect()
}

fn reference(Line(kind, name, digits, size): Line) -> Result<PartRef, String> {
    let hash = parse_hash(&digits).ok_or_else(|| format!("expected a hash, found {digits:?}"))?;
    Ok(PartRef { kind, name, hash, size })
}

fn parse_hash(digits: &str) -> Option<PartHash> {
    let mut hash = [0; 32];
    if digits.len() != 64 || !digits.is_ascii() {
        return None;
    }
    for (byte, at) in hash.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&digits[at..at + 2], 16).ok()?;
    }
    Some(PartHash(hash))
}

fn subject(to: &Belongs) -> [String; 4] {
    ["manifest".to_owned(), to.owner.to_string(), to.session.to_string(), to.snapshot.to_string()]
}
