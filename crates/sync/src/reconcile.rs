//! Merges heads, where that is how conflicts are resolved here, or where there is nothing to resolve.

use crate::contents::{self, shared_parts};
use crate::context::{ConflictResolution, Sync};
use crate::error::SyncError;
use crate::shelf::{ATTEMPTS, Along, Shelf, author, is_race};
use baton_session::revision::merge::{Side, merge, merge_views};
use baton_session::revision::{Content, Knowledge, MergePlan, PartList};
use baton_session::{
    Owner, Part, PartKind, RevisionId, SessionId, SnapshotId, SnapshotReason, State, parts, wire,
};
use baton_store::blocking::blocking;
use baton_store::{NewSnapshot, RevisionContent, Snapshot, clock};

/// Merges the heads of a session for as long as two of them come from one revision that is here, where
/// that is how conflicts are resolved; and everywhere those about which nothing is to be decided, because
/// each of them says what is newest in another part of the session.
pub(super) async fn reconcile(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
) -> Result<(), SyncError> {
    let mut races = 0;
    while races < ATTEMPTS {
        let mut shelf = Shelf::load(context, owner, session).await?;
        let replica = &shelf.shared.replica;
        let plan = match context.own.settings.conflict_resolution {
            ConflictResolution::Merge => replica.merge_plan(),
            _ => replica.settled_plan(),
        };
        let Some(plan) = plan else { return Ok(()) };
        let sides = Box::pin(Sides::read(context, &shelf, &plan)).await?;
        let Some(sides) = sides else { return Ok(()) };
        match Box::pin(sides.merge(context, &mut shelf, &plan)).await {
            Err(error) if is_race(&error) => races += 1,
            merged => merged?,
        }
    }
    Err(SyncError::Contended { session })
}

/// What the revisions of a merge hold.
struct Sides {
    /// None when nothing is to be decided.
    base: Option<State>,
    winner: State,
    loser: State,
    /// The snapshot of the winner, whose preview is shown for the merge.
    shown: Snapshot,
}

impl Sides {
    /// Reads them; none when the content of one of them is not here.
    async fn read(
        context: &Sync,
        shelf: &Shelf,
        plan: &MergePlan,
    ) -> Result<Option<Self>, SyncError> {
        let fetch = |revision: RevisionId| {
            let (owner, session) = (&shelf.owner, shelf.shared.replica.session());
            context.store.fetch_content(owner, session, revision)
        };
        let [winner, loser] = [fetch(plan.winner.id()).await?, fetch(plan.loser.id()).await?];
        let (Some(shown), Some(loser)) = (winner, loser) else { return Ok(None) };
        let mut base = None;
        for revision in &plan.bases {
            base = fetch(revision.id()).await?;
            if base.is_some() {
                break;
            }
        }
        if base.is_none() && !plan.bases.is_empty() {
            return Ok(None);
        }
        let read = async |snapshot: &Snapshot| {
            contents::state(context, &shelf.owner, &shared_parts(snapshot)).await
        };
        let base = match &base {
            Some(base) => Some(read(base).await?),
            None => None,
        };
        let (winner, loser) = (read(&shown).await?, read(&loser).await?);
        Ok(Some(Self { base, winner, loser, shown }))
    }

    /// Puts one revision in the place of the two.
    async fn merge(
        self,
        context: &Sync,
        here: &mut Shelf,
        plan: &MergePlan,
    ) -> Result<(), SyncError> {
        let Self { base, winner, loser, shown } = self;
        let knowledge = [&plan.winner, &plan.loser].map(|side| side.knowledge());
        let is_plain = knowledge.iter().all(Knowledge::is_plain);
        let work = move || {
            let merged = match &base {
                Some(base) if is_plain => merge(base, &winner, &loser),
                base => {
                    let [won, beaten] = [(&knowledge[0], &winner), (&knowledge[1], &loser)]
                        .map(|(knowledge, state)| Side { knowledge, state });
                    merge_views(base.as_ref(), won, beaten)
                }
            };
            (parts::split(&merged.state), wire::checksum_of(&merged.state), merged.decisions)
        };
        let (split, checksum, decisions) = blocking(work).await?;
        let preview = shown.parts.into_iter().filter(|part| part.kind == PartKind::Preview);
        let carried: Vec<_> = preview.collect();
        let lines = split.iter().map(Part::reference).chain(carried.iter().cloned());
        let listed = PartList::new(&lines.collect::<Vec<_>>());
        let (parts, size) = (listed.hash(), listed.size());
        let says = Content { checksum, parts, size, ..plan.winner.content() };
        let before = here.whole();
        let merged = here.shared.replica.merge(plan, says, &decisions, &author(context));
        let lost = decisions.left_out().len();
        let snapshot = NewSnapshot { parts: split, carried, ..aside(here) };
        let contents = vec![(merged.id(), RevisionContent::New(snapshot))];
        let released = here.released(&before);
        here.put_back(context, Along { contents, released, ..Along::default() }).await?;
        tracing::info!(session = %merged.session, rev = %merged.id(), lost, "merged two revisions");
        Ok(())
    }
}

/// A snapshot beside the line of the session, without parts yet.
pub(super) fn aside(shelf: &Shelf) -> NewSnapshot {
    let now = clock::now();
    NewSnapshot {
        id: SnapshotId::new(now, rand::random()),
        session: shelf.shared.replica.session(),
        owner: shelf.owner.clone(),
        taken_at: now,
        reason: SnapshotReason::Sync,
        term: None,
        shrunk: false,
        sibling: true,
        saved: true,
        parts: Vec::new(),
        carried: Vec::new(),
        keep: None,
    }
}
