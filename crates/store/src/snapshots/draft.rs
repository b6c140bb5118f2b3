//! A draft: a snapshot made ready before the database is asked to write it.
//!
//! Hashing, compressing and encrypting happen here, outside of the transaction, and only for parts
//! that the database does not have yet.

use super::lists::{self, Current};
use super::manifest::{Belongs, List};
use super::{NewSnapshot, Snapshot};
use crate::blocking::blocking;
use crate::config::Limits;
use crate::error::StoreError;
use crate::seal::{Seal, SealError};
use crate::store::Store;
use baton_session::{Owner, Part, PartRef, Term};
use std::collections::{BTreeMap, BTreeSet};

/// A snapshot made ready.
pub(crate) struct Draft {
    pub(super) owner: Owner,
    pub(crate) snapshot: Snapshot,
    pub(super) term: Option<Term>,
    pub(super) keep: Option<u32>,
    /// The sealed list of parts, or how it differs from `list`.
    pub(super) manifest: Vec<u8>,
    pub(super) list: Option<List>,
    /// The ids at rest of all of its parts, with one part that bears it.
    pub(super) ids: BTreeMap<String, PartRef>,
    /// The id at rest of the part in each place, and of the list in its own.
    pub(super) places: BTreeMap<String, String>,
    /// The bytes of those that may be new, by id at rest.
    pub(super) contents: BTreeMap<String, Content>,
    /// Those of them that the database has, but cannot open any more.
    pub(super) damaged: BTreeSet<String>,
}

/// The bytes of a part, before and after sealing.
pub(super) enum Content {
    Plain(Part),
    Sealed(Vec<u8>),
}

/// Checks the limits, hashes and names the parts, and seals the list of them.
pub(super) fn draft(
    new: NewSnapshot,
    current: Option<Current>,
    seal: &Seal,
    limits: &Limits,
) -> Result<Draft, StoreError> {
    let found = new.parts.len() + new.carried.len();
    if found > limits.snapshot_parts {
        return Err(StoreError::TooManyParts { found, limit: limits.snapshot_parts });
    }
    let names = seal.part_ids(&new.owner);
    let mut parts = new.carried;
    let mut contents = BTreeMap::new();
    for part in new.parts {
        let reference = part.reference();
        refuse_large(&reference, limits)?;
        contents.insert(names.id(reference.kind, &reference.hash), Content::Plain(part));
        parts.push(reference);
    }
    sort_once(&mut parts)?;
    let mut ids = BTreeMap::new();
    let mut places = BTreeMap::new();
    for part in &parts {
        let id = names.id(part.kind, &part.hash);
        places.insert(names.place(part.kind, &part.name), id.clone());
        ids.insert(id, part.clone());
    }
    let belongs = Belongs { owner: &new.owner, session: new.session, snapshot: new.id };
    let (manifest, list) = lists::seal_manifest(seal, &names, &belongs, &parts, current)
        .map_err(|error| StoreError::SnapshotCorrupt { id: new.id, why: error.to_string() })?;
    places.extend(list.as_ref().map(|list| (lists::PLACE.to_owned(), list.id.clone())));
    let snapshot = Snapshot {
        id: new.id,
        session: new.session,
        // As a reader will find it.
        taken_at: crate::row::to_millis(new.taken_at),
        reason: new.reason,
        term: new.term,
        // Or it becomes one when it is written.
        sibling: new.sibling,
        shrunk: new.shrunk,
        saved: new.saved,
        bytes: total(&parts),
        parts,
    };
    Ok(Draft {
        owner: new.owner,
        snapshot,
        term: new.term,
        keep: new.keep,
        manifest,
        list,
        ids,
        places,
        contents,
        damaged: BTreeSet::new(),
    })
}

/// The bytes of parts together.
pub(super) fn total(parts: &[PartRef]) -> u64 {
    parts.iter().fold(0, |sum, part| sum.saturating_add(part.size))
}

fn refuse_large(part: &PartRef, limits: &Limits) -> Result<(), StoreError> {
    if part.size <= limits.part_bytes {
        return Ok(());
    }
    Err(StoreError::PartTooLarge {
        kind: part.kind,
        name: part.name.clone(),
        found: part.size,
        limit: limits.part_bytes,
    })
}

fn sort_once(parts: &mut [PartRef]) -> Result<(), StoreError> {
    parts.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    let twice =
        parts.windows(2).find(|pair| pair[0].kind == pair[1].kind && pair[0].name == pair[1].name);
    match twice {
        Some(pair) => {
            Err(StoreError::DuplicatePart { kind: pair[0].kind, name: pair[0].name.clone() })
        }
        None => Ok(()),
    }
}

impl Draft {
    /// Seals the parts that the database does not have, or has no more.
    pub(super) fn seal_missing(
        &mut self,
        seal: &Seal,
        present: &BTreeSet<String>,
    ) -> Result<(), StoreError> {
        for (id, content) in &mut self.contents {
            if !present.contains(id) || self.damaged.contains(id) {
                content.seal(seal, &self.owner, id)?;
            }
        }
        Ok(())
    }
}

impl Content {
    /// Seals it, unless it is sealed, and shows the result.
    pub(super) fn seal(
        &mut self,
        seal: &Seal,
        owner: &Owner,
        id: &str,
    ) -> Result<&[u8], StoreError> {
        if let Self::Plain(part) = self {
            let sealed = seal
                .seal(&part.bytes, &Seal::part_subject(owner, id, part.kind))
                .map_err(|error| corrupt(part, &error))?;
            *self = Self::Sealed(sealed);
        }
        match self {
            Self::Sealed(sealed) => Ok(sealed),
            Self::Plain(_) => Ok(&[]),
        }
    }
}

fn corrupt(part: &Part, error: &SealError) -> StoreError {
    StoreError::PartCorrupt { kind: part.kind, name: part.name.clone(), why: error.to_string() }
}

impl Store {
    /// Makes a draft, and seals what the database does not have at this moment.
    pub(crate) async fn draft(&self, new: NewSnapshot) -> Result<Draft, StoreError> {
        let (seal, limits) = (self.seal(), self.inner.limits);
        let current = self.current_list(new.session).await?;
        let mut draft = blocking(move || draft(new, current, &seal, &limits)).await??;
        let wanted: Vec<&String> = draft.contents.keys().collect();
        let mut connection = self.pool().acquire().await?;
        let present = crate::parts::present(&mut connection, &wanted).await?;
        drop(connection);
        draft.damaged = self.damaged(&draft, &present).await?;
        let seal = self.seal();
        blocking(move || draft.seal_missing(&seal, &present).map(|()| draft)).await?
    }

    /// Which of the parts whose bytes we have are in the database, but damaged: they are mended.
    async fn damaged(
        &self,
        draft: &Draft,
        present: &BTreeSet<String>,
    ) -> Result<BTreeSet<String>, StoreError> {
        let known: Vec<(&String, &PartRef)> = draft
            .ids
            .iter()
            .filter(|(id, _)| draft.contents.contains_key(*id) && present.contains(*id))
            .collect();
        let wanted: Vec<PartRef> = known.iter().map(|(_, part)| (*part).clone()).collect();
        let found = self.fetch_parts(&draft.owner, &wanted).await?;
        let damaged = known.into_iter().zip(found).filter(|(_, part)| part.is_err());
        Ok(damaged.map(|((id, _), _)| id.clone()).collect())
    }
}
