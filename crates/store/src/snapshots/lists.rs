//! Lists of parts that stand by themselves, for the manifests of several snapshots to differ from.
//!
//! The one idea: a list is kept as a part is, in a place of its own in the session. So it stays for as
//! long as a snapshot has it, and goes with the last one. Few snapshots share a list: one that is
//! damaged costs those, and those before them have another.

use super::manifest::{self, Base, Belongs, List};
use crate::error::StoreError;
use crate::seal::{PartIds, Seal, SealError};
use crate::store::Store;
use baton_session::{Owner, PartRef, SessionId};
use sqlx::{AnyConnection, Row};

/// The place of the list that the snapshots of a session differ from. No other place is named so:
/// those have the digits of a hash.
pub(super) const PLACE: &str = "list";

/// A list of fewer parts than this is written whole in every snapshot.
const LONG: usize = 32;
/// How many snapshots differ from one list.
const SHARED_BY: i64 = 8;
/// A snapshot that differs in more than one of so many parts gets a new list.
const LIKENESS: usize = 4;

/// The list from which the newest snapshot of a session differs, and how many do.
#[derive(Debug)]
pub(super) struct Current {
    list: List,
    shared_by: i64,
}

/// Seals the manifest of a snapshot, and says from which list it differs, if from one.
pub(super) fn seal_manifest(
    seal: &Seal,
    names: &PartIds,
    to: &Belongs,
    parts: &[PartRef],
    current: Option<Current>,
) -> Result<(Vec<u8>, Option<List>), SealError> {
    if parts.len() < LONG {
        return Ok((manifest::seal(seal, to, parts)?, None));
    }
    let base = current.and_then(|current| current.for_one_more(seal, to, parts));
    let base = base.map_or_else(|| begin(seal, names, to, parts), Ok)?;
    let manifest = manifest::seal_changes(seal, to, parts, &base)?;
    Ok((manifest, Some(base.list)))
}

/// A list that begins with this snapshot.
fn begin(seal: &Seal, names: &PartIds, to: &Belongs, parts: &[PartRef]) -> Result<Base, SealError> {
    let id = names.list(&to.snapshot.to_string());
    let sealed = manifest::seal_list(seal, to, &id, parts)?;
    Ok(Base { list: List { id, sealed }, parts: parts.to_vec() })
}

impl Current {
    /// The list, if one more snapshot is to differ from it. One that is damaged is of no use.
    fn for_one_more(self, seal: &Seal, to: &Belongs, parts: &[PartRef]) -> Option<Base> {
        let Self { list, shared_by } = self;
        if shared_by >= SHARED_BY {
            return None;
        }
        let base = Base { parts: manifest::open_list(seal, to, &list).ok()?, list };
        let is_alike = manifest::count_changes(&base.parts, parts) * LIKENESS <= parts.len();
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
        .bind(PLACE)
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
pub(super) async fn insert(
    connection: &mut AnyConnection,
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
