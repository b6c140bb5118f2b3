//! The list of parts of a snapshot, as it is sealed: JSON rows `[kind, name, hash, size]`.
//!
//! The one idea: of many parts few change, so a long list says only how it differs from a whole list. A short
//! one is written as it is. A whole list is kept as a part is, in a place of its own in the session. So it
//! stays for as long as a snapshot has it, and goes with the last one. Few snapshots share a list: one that
//! is damaged costs those, and those before them have another.

use crate::config::MANIFEST_MAX;
use crate::error::StoreError;
use crate::pooled::PooledConnection;
use crate::seal::{PartIds, Seal, SealError};
use crate::store::Store;
use baton_session::{Owner, PartHash, PartKind, PartRef, SessionId, SnapshotId, json};
use serde::{Deserialize, Serialize};
use sqlx::Row;
use std::collections::BTreeMap;

/// The place of the list that the snapshots of a session differ from. No other place is named so:
/// those have the digits of a hash.
pub(super) const LIST_PLACE: &str = "list";

/// A list of fewer parts than this is written whole in every snapshot.
const LONG: usize = 32;
/// How many snapshots differ from one list.
const SHARED_BY: i64 = 8;
/// A snapshot that differs in more than one of so many parts gets a new list.
const LIKENESS: usize = 4;

/// Which snapshot a manifest belongs to. It opens for no other.
pub(super) struct ManifestOwner<'a> {
    pub(super) owner: &'a Owner,
    pub(super) session: SessionId,
    pub(super) snapshot: SnapshotId,
}

/// A whole list, at rest.
#[derive(Debug, Clone)]
pub(super) struct List {
    pub(super) id: String,
    pub(super) sealed: Vec<u8>,
}

/// A list, and what is in it.
#[derive(Debug, Clone)]
pub(super) struct BaseList {
    pub(super) list: List,
    pub(super) parts: Vec<PartRef>,
}

#[derive(Serialize, Deserialize)]
struct Line(PartKind, String, String, u64);

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

/// The list from which the newest snapshot of a session differs, and how many do.
#[derive(Debug)]
pub(super) struct Current {
    list: List,
    shared_by: i64,
}

/// Seals a list of parts by itself.
fn seal_whole(seal: &Seal, to: &ManifestOwner, parts: &[PartRef]) -> Result<Vec<u8>, SealError> {
    seal_json(seal, &Manifest::Whole(lines(parts)), &subject("manifest", to))
}

/// Seals how a list of parts differs from `base`.
fn seal_changes(
    seal: &Seal,
    to: &ManifestOwner,
    parts: &[PartRef],
    base: &BaseList,
) -> Result<Vec<u8>, SealError> {
    let (gone, now) = changes(&base.parts, parts);
    let gone = gone.into_iter().map(|part| (part.kind, part.name.clone())).collect();
    let now = now.into_iter().map(line).collect();
    let manifest = Manifest::Changes { list: base.list.id.clone(), gone, now };
    seal_json(seal, &manifest, &subject("manifest", to))
}

/// How many parts differ.
fn count_changes(from: &[PartRef], to: &[PartRef]) -> usize {
    let (gone, now) = changes(from, to);
    gone.len() + now.len()
}

/// Opens a list of parts; the error says what is wrong with it. `base` is the list that it may differ
/// from.
pub(super) fn open(
    seal: &Seal,
    to: &ManifestOwner,
    sealed: &[u8],
    base: impl FnOnce() -> Result<BaseList, String>,
) -> Result<Vec<PartRef>, String> {
    match open_json(seal, sealed, &subject("manifest", to))? {
        Manifest::Whole(lines) => lines.into_iter().map(reference).collect(),
        Manifest::Changes { list, gone, now } => {
            let BaseList { list: found, parts } = base()?;
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
fn seal_list(
    seal: &Seal,
    to: &ManifestOwner,
    id: &str,
    parts: &[PartRef],
) -> Result<Vec<u8>, SealError> {
    seal_json(seal, &lines(parts), &list_subject(to, id))
}

/// Opens a list that others differ from.
pub(super) fn open_list(
    seal: &Seal,
    to: &ManifestOwner,
    list: &List,
) -> Result<Vec<PartRef>, String> {
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

fn subject(what: &str, to: &ManifestOwner) -> [String; 4] {
    [what.to_owned(), to.owner.to_string(), to.session.to_string(), to.snapshot.to_string()]
}

/// A list serves the snapshots of one session.
fn list_subject(to: &ManifestOwner, id: &str) -> [String; 4] {
    ["list".to_owned(), to.owner.to_string(), to.session.to_string(), id.to_owned()]
}

/// Seals the manifest of a snapshot, and says from which list it differs, if from one.
pub(super) fn seal_manifest(
    seal: &Seal,
    names: &PartIds,
    to: &ManifestOwner,
    parts: &[PartRef],
    current: Option<Current>,
) -> Result<(Vec<u8>, Option<List>), SealError> {
    if parts.len() < LONG {
        return Ok((seal_whole(seal, to, parts)?, None));
    }
    let base = current.and_then(|current| current.for_one_more(seal, to, parts));
    let base = base.map_or_else(|| begin_list(seal, names, to, parts), Ok)?;
    let manifest = seal_changes(seal, to, parts, &base)?;
    Ok((manifest, Some(base.list)))
}

/// A list that begins with this snapshot.
fn begin_list(
    seal: &Seal,
    names: &PartIds,
    to: &ManifestOwner,
    parts: &[PartRef],
) -> Result<BaseList, SealError> {
    let id = names.list(&to.snapshot.to_string());
    let sealed = seal_list(seal, to, &id, parts)?;
    Ok(BaseList { list: List { id, sealed }, parts: parts.to_vec() })
}

impl Current {
    /// The list, if one more snapshot is to differ from it. One that is damaged is of no use.
    fn for_one_more(self, seal: &Seal, to: &ManifestOwner, parts: &[PartRef]) -> Option<BaseList> {
        let Self { list, shared_by } = self;
        if shared_by >= SHARED_BY {
            return None;
        }
        let base = BaseList { parts: open_list(seal, to, &list).ok()?, list };
        let is_alike = count_changes(&base.parts, parts) * LIKENESS <= parts.len();
        is_alike.then_some(base)
    }
}

impl Store {
    /// The list from which the newest snapshot of a session differs.
    pub(super) async fn current_list(
        &self,
        session: SessionId,
    ) -> Result<Option<Current>, StoreError> {
        let row = sqlx::query(
            "select parts.id, parts.sealed,
                 (select max(ordinal) from snapshots where session = $1) - since + 1 as shared_by
             from part_spans join parts on parts.id = part_spans.part
             where session = $1 and place = $2 and until is null",
        )
        .bind(session.to_string())
        .bind(LIST_PLACE)
        .fetch_optional(self.pool())
        .await?;
        row.map(|row| {
            let list = List { id: row.try_get("id")?, sealed: row.try_get("sealed")? };
            Ok(Current { list, shared_by: row.try_get("shared_by")? })
        })
        .transpose()
    }
}

/// Stores a list, unless it is there.
pub(super) async fn insert_list(
    connection: &mut PooledConnection,
    owner: &Owner,
    list: &List,
) -> Result<(), StoreError> {
    sqlx::query(
        "insert into parts (id, owner, sealed) values ($1, $2, $3) on conflict (id) do nothing",
    )
    .bind(list.id.as_str())
    .bind(owner.as_str())
    .bind(list.sealed.as_slice())
    .execute(connection)
    .await?;
    Ok(())
}
