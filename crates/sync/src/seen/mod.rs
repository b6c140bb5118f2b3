//! What somebody sees of a session who is given a part of it.
//!
//! The one idea: what is shown is made when somebody asks, from what is here, and every node that shows
//! the same makes the same of it. Most of its parts are those of the whole. The others are made for it,
//! and remembered for a while, because whoever is shown a list asks for its parts.
//!
//! Rooms: `look` looks at one revision, `looks` remembers it, and `parts` gives what it is made of.

mod look;
pub(super) mod looks;
mod parts;

pub(super) use parts::{fetch_seen, pack};

use super::shelf::Shelf;
use crate::context::Sync;
use crate::error::SyncError;
use baton_session::revision::PartList;
use baton_session::{Owner, PartHash, RevisionId, SessionId, Signed, View};
use baton_store::PackedPart;
use look::look;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// What somebody sees of a revision.
#[derive(Debug)]
pub(super) struct SeenRevision {
    /// The revision that says it.
    pub(super) signed: Signed,
    /// Of which parts it is made.
    pub(super) list: PartList,
    /// Those that are no parts of the whole.
    made: HashMap<PartHash, PackedPart>,
    /// Whether there is anything in it.
    is_empty: bool,
}

impl SeenRevision {
    fn bytes(&self) -> u64 {
        self.made.values().map(|part| part.packed.len() as u64).sum()
    }
}

/// What somebody sees of a session: of each revision, by the one that it is seen of. Of one that they are
/// told as it is nothing stands here; of one that they see nothing of, nothing is told.
pub(super) struct Seen(BTreeMap<RevisionId, Option<Arc<SeenRevision>>>);

impl Seen {
    /// What is seen of every revision whose content belongs here.
    pub(super) async fn of(context: &Sync, shelf: &Shelf, view: &View) -> Result<Self, SyncError> {
        let replica = &shelf.shared.replica;
        let heads: HashSet<RevisionId> = replica.heads().map(Signed::id).collect();
        let mut all: Vec<&Signed> = replica.whole().filter(|one| !one.is_within(view)).collect();
        // A head names what is seen of the losers that it names.
        all.sort_by_key(|one| heads.contains(&one.id()));
        let mut seen = Self(BTreeMap::new());
        for signed in all {
            let shown = if signed.is_seen(view) {
                Some(seen.one(context, &shelf.owner, signed, view).await?)
            } else {
                None
            };
            seen.0.insert(signed.id(), shown);
        }
        Ok(seen)
    }

    async fn one(
        &self,
        context: &Sync,
        owner: &Owner,
        signed: &Signed,
        view: &View,
    ) -> Result<Arc<SeenRevision>, SyncError> {
        let conflicts = signed.conflicts.iter().filter_map(|id| match self.0.get(id) {
            None => Some(*id),
            Some(seen) => seen.as_ref().map(|seen| seen.signed.id()),
        });
        look(context, owner, signed, view, conflicts.collect()).await
    }

    /// The revisions to tell, see [`offer_seen`](baton_session::Replica::offer_seen).
    pub(super) fn revisions(&self) -> BTreeMap<RevisionId, Option<Signed>> {
        let signed =
            |seen: &Option<Arc<SeenRevision>>| seen.as_ref().map(|seen| seen.signed.clone());
        self.0.iter().map(|(id, seen)| (*id, signed(seen))).collect()
    }

    /// Whether somebody sees nothing at all of what counts.
    pub(super) fn is_nothing(&self, of: &Shelf) -> bool {
        let is_nothing = |head: &Signed| match self.0.get(&head.id()) {
            None => false,
            Some(seen) => seen.as_ref().is_none_or(|seen| seen.is_empty),
        };
        of.shared.replica.heads().all(is_nothing)
    }

    /// Of which parts a revision is made that somebody sees.
    pub(super) fn list(&self, id: RevisionId) -> Option<&PartList> {
        self.0.values().flatten().find(|seen| seen.signed.id() == id).map(|seen| &seen.list)
    }

    /// A part that was made for them.
    pub(super) fn made(&self, hash: &PartHash) -> Option<&PackedPart> {
        self.0.values().flatten().find_map(|seen| seen.made.get(hash))
    }
}

/// Whether somebody sees anything of a session at all.
pub async fn is_seen(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    view: &View,
) -> Result<bool, SyncError> {
    if view.is_whole() {
        return Ok(true);
    }
    let shelf = Shelf::take(context, owner, session).await?;
    let Some(current) = shelf.shared.replica.current() else { return Ok(false) };
    if current.deleted || !current.is_seen(view) {
        return Ok(false);
    }
    Ok(!look(context, owner, current, view, Vec::new()).await?.is_empty)
}
