//! The list of parts of a snapshot, as it is sealed: JSON rows `[kind, name, hash, size]`.
//!
//! The one idea: of many parts few change, so a long list says only how it differs from a list that
//! stands by itself ([`lists`](super::lists)). A short one is written as it is.

use crate::seal::{Seal, SealError};
use baton_session::{Owner, PartHash, PartKind, PartRef, SessionId, SnapshotId, json};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The most bytes that a list of parts may have: 20,000 parts with names of 3 kB each.
const MANIFEST_MAX: u64 = 64 << 20;

/// Which snapshot a manifest belongs to. It opens for no other.
pub(super) struct Belongs<'a> {
    pub(super) owner: &'a Owner,
    pub(super) session: SessionId,
    pub(super) snapshot: SnapshotId,
}

/// A list that stands by itself, at rest.
#[derive(Debug, Clone)]
pub(super) struct List {
    pub(super) id: String,
    pub(super) sealed: Vec<u8>,
}

/// A list, and what is in it.
#[derive(Debug, Clone)]
pub(super) struct Base {
    pub(super) list: List,
    pub(super) parts: Vec<PartRef>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Line(PartKind, String, String, u64);

/// A sealed manifest.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Manifest {
    Whole(Vec<Line>),
    Changes {
        /// The list that it differs from.
        list: String,
        /// Parts that only the list has.
        gone: Vec<(PartKind, String)>,
        /// Parts that the list does not have, or not so.
        now: Vec<Line>,
    },
}

/// Seals a list of parts by itself.
pub(super) fn seal(seal: &Seal, to: &Belongs, parts: &[PartRef]) -> Result<Vec<u8>, SealError> {
    seal_json(seal, &Manifest::Whole(lines(parts)), &subject("manifest", to))
}

/// Seals how a list of parts differs from `base`.
pub(super) fn seal_changes(
    seal: &Seal,
    to: &Belongs,
    parts: &[PartRef],
    base: &Base,
) -> Result<Vec<u8>, SealError> {
    let (gone, now) = changes(&base.parts, parts);
    let gone = gone.into_iter().map(|part| (part.kind, part.name.clone())).collect();
    let now = now.into_iter().map(line).collect();
    let manifest = Manifest::Changes { list: base.list.id.clone(), gone, now };
    seal_json(seal, &manifest, &subject("manifest", to))
}

/// How many parts differ.
pub(super) fn count_changes(from: &[PartRef], to: &[PartRef]) -> usize {
    let (gone, now) = changes(from, to);
    gone.len() + now.len()
}

/// Opens a list of parts; the error says what is wrong with it. `base` is the list that it may differ
/// from.
pub(super) fn open(
    seal: &Seal,
    to: &Belongs,
    sealed: &[u8],
    base: impl FnOnce() -> Result<Base, String>,
) -> Result<Vec<PartRef>, String> {
    match open_json(seal, sealed, &subject("manifest", to))? {
        Manifest::Whole(lines) => lines.into_iter().map(reference).collect(),
        Manifest::Changes { list, gone, now } => {
            let Base { list: found, parts } = base()?;
            if found.id != list {
                return Err("expected the list that it differs from, found another".to_owned());
            }
            let parts = parts.into_iter().map(|part| ((part.kind, part.name.clone()), part));
            let mut parts: BTreeMap<_, _> = parts.collect();
            for key in &gone {
                parts.remove(key);
            }
            for line in now {
                let part = reference(line)?;
                parts.insert((part.kind, part.name.clone()), part);
            }
            Ok(parts.into_values().collect())
        }
    }
}

/// Seals a list for others to differ from.
pub(super) fn seal_list(
    seal: &Seal,
    to: &Belongs,
    id: &str,
    parts: &[PartRef],
) -> Result<Vec<u8>, SealError> {
    seal_json(seal, &lines(parts), &list_subject(to, id))
}

/// Opens a list that others differ from.
pub(super) fn open_list(seal: &Seal, to: &Belongs, list: &List) -> Result<Vec<PartRef>, String> {
    let lines: Vec<Line> = open_json(seal, &list.sealed, &list_subject(to, &list.id))?;
    lines.into_iter().map(reference).collect()
}

/// What only `from` has, and what `to` has otherwise. Both are sorted, and name nothing twice.
fn changes<'a>(from: &'a [PartRef], to: &'a [PartRef]) -> (Vec<&'a PartRef>, Vec<&'a PartRef>) {
    let by_name = |parts: &'a [PartRef]| -> BTreeMap<_, _> {
        parts.iter().map(|part| ((part.kind, part.name.as_str()), part)).collect()
    };
    let (before, after) = (by_name(from), by_name(to));
    let gone = before.iter().filter(|(key, _)| !after.contains_key(*key));
    let now = after.iter().filter(|(key, part)| before.get(*key) != Some(*part));
    (gone.map(|(_, part)| *part).collect(), now.map(|(_, part)| *part).collect())
}

fn seal_json(seal: &Seal, what: &impl Serialize, to: &[String; 4]) -> Result<Vec<u8>, SealError> {
    let plain = json::bytes(what);
    // What could not be opened again must not be stored.
    if plain.len() as u64 > MANIFEST_MAX {
        return Err(SealError::TooLarge { limit: MANIFEST_MAX });
    }
    seal.seal(&plain, &to.each_ref().map(String::as_str))
}

fn open_json<T: for<'a> Deserialize<'a>>(
    seal: &Seal,
    sealed: &[u8],
    to: &[String; 4],
) -> Result<T, String> {
    let plain = seal
        .open(sealed, &to.each_ref().map(String::as_str), MANIFEST_MAX)
        .map_err(|error| error.to_string())?;
    serde_json::from_slice(&plain).map_err(|error| format!("expected a list of parts: {error}"))
}

fn lines(parts: &[PartRef]) -> Vec<Line> {
    parts.iter().map(line).collect()
}

fn line(part: &PartRef) -> Line {
    Line(part.kind, part.name.clone(), part.hash.to_string(), part.size)
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

fn subject(what: &str, to: &Belongs) -> [String; 4] {
    [what.to_owned(), to.owner.to_string(), to.session.to_string(), to.snapshot.to_string()]
}

/// A list serves the snapshots of one session.
fn list_subject(to: &Belongs, id: &str) -> [String; 4] {
    ["list".to_owned(), to.owner.to_string(), to.session.to_string(), id.to_owned()]
}
