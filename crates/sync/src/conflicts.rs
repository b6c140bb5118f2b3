//! Conflicts: shown, compared with the revision that counts, and resolved by a caller that may choose.

use crate::contents::{is_unreadable, shared_parts};
use crate::context::Sync;
use crate::error::SyncError;
use crate::reconcile::aside;
use crate::save::tell_by_itself;
use crate::shelf::{ATTEMPTS, Along, Shelf, author, is_race};
use crate::working::{advance, current, keep_unsaved};
use crate::{contents, index, partial};
use baton_api::sync::{
    ConflictDetails, ConflictList, ConflictView, ResolveConflict, RevisionDifference, RevisionView,
};
use baton_runtime::audit::{Action, Note};
use baton_runtime::{Caller, RuntimeError};
use baton_session::diff::diff;
use baton_session::revision::Content;
use baton_session::{Owner, RevisionId, Session, SessionId, SessionName, Signed, State};
use baton_store::blocking::blocking;
use baton_store::{NewSnapshot, RevisionContent, Snapshot};
use std::sync::Arc;

/// The caller's sessions in which someone has to choose.
pub async fn conflicts(context: &Sync, caller: &Caller) -> Result<ConflictList, SyncError> {
    let index = index::of(context, &caller.owner).await?;
    let names = index::names(context, &caller.owner).await?;
    let mut items = Vec::new();
    for session in index.sessions.iter().filter(|session| !session.conflicts.is_empty()) {
        let shelf = Shelf::load(context, &caller.owner, session.id).await?;
        items.extend(view(context, &shelf, names.get(&session.id)));
    }
    items.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(ConflictList { items })
}

/// Ends the conflicts of a session: the revision that the caller names counts from now on, and the
/// others are let go.
pub async fn resolve(
    context: &Sync,
    caller: &Caller,
    reference: &str,
    request: ResolveConflict,
) -> Result<ConflictView, SyncError> {
    let keep: String = request.keep.chars().take(100).collect();
    let note = Note::new(&caller.actor, &caller.owner, Action::ResolveConflict, reference);
    let note = note.with("keep", keep);
    let resolved = resolve_here(context, &caller.owner, reference, &request.keep).await;
    note.end(&context.store, resolved).await
}

async fn resolve_here(
    context: &Sync,
    owner: &Owner,
    reference: &str,
    keep: &str,
) -> Result<ConflictView, SyncError> {
    let (session, hold) = context.hold_here(owner, reference).await?;
    Shelf::expect(context, owner, session.id).await?;
    keep_unsaved(context, &session).await?;
    for _ in 0..ATTEMPTS {
        match attempt(context, &session, keep).await {
            Err(error) if is_race(&error) => {}
            Err(error) => return Err(error),
            Ok(()) => {
                advance(context, owner, &hold).await?;
                tell_by_itself(context, owner, session.id);
                let shelf = Shelf::load(context, owner, session.id).await?;
                let gone = || SyncError::NotShared { session: session.id.to_string() };
                return view(context, &shelf, Some(&session.name)).ok_or_else(gone);
            }
        }
    }
    Err(SyncError::Contended { session: session.id })
}

async fn attempt(context: &Sync, session: &Session, keep: &str) -> Result<(), SyncError> {
    let mut shelf = Shelf::load(context, &session.owner, session.id).await?;
    let kept = find(&shelf, keep)?;
    let before = shelf.whole();
    if kept.deleted {
        shelf.shared.replica.delete(kept.content(), &author(context));
        let released = shelf.released(&before);
        return shelf.put_back(context, Along { released, ..Along::default() }).await;
    }
    let held = read(context, &shelf, &kept).await?;
    let (says, held_as) = match beside(&shelf, &kept) {
        None => (kept.content(), RevisionContent::Existing(held.id)),
        Some(wider) => completed(context, &shelf, (&kept, &held), &wider).await?,
    };
    let resolved = shelf.shared.replica.resolve(says, &author(context));
    let contents = vec![(resolved.id(), held_as)];
    let released = shelf.released(&before);
    shelf.put_back(context, Along { contents, released, ..Along::default() }).await
}

async fn read(context: &Sync, shelf: &Shelf, signed: &Signed) -> Result<Snapshot, SyncError> {
    let (owner, session) = (&shelf.owner, shelf.shared.replica.session());
    let held = context.store.fetch_content(owner, session, signed.id()).await?;
    held.ok_or(SyncError::NoContent { rev: signed.id() })
}

/// The revision that speaks of more than the one that is kept; none when that speaks of it all.
fn beside(shelf: &Shelf, kept: &Signed) -> Option<Signed> {
    let foremost = shelf.shared.replica.current()?;
    let says_more = !kept.knowledge().speaks_of(&foremost.knowledge());
    (kept.is_partial() && says_more && !foremost.deleted).then(|| foremost.clone())
}

/// What a part says that is kept, and around it what no caller has decided against.
async fn completed(
    context: &Sync,
    shelf: &Shelf,
    (kept, held): (&Signed, &Snapshot),
    wider: &Signed,
) -> Result<(Content, RevisionContent), SyncError> {
    let around = read(context, shelf, wider).await?;
    let says = contents::state(context, &shelf.owner, &shared_parts(held)).await?;
    let under = contents::state(context, &shelf.owner, &shared_parts(&around)).await?;
    let over = partial::over(kept.knowledge(), says, under);
    let (says, parts) = blocking(move || partial::cut(&over())).await?;
    let (checksum, parts_hash, size) = (says.checksum, says.list.hash(), says.list.size());
    let says = Content { checksum, parts: parts_hash, size, ..wider.content() };
    Ok((says, RevisionContent::New(NewSnapshot { parts, ..aside(shelf) })))
}

/// The revision with this name, or the only one whose name begins so, or whose hash does.
fn find(shelf: &Shelf, keep: &str) -> Result<Signed, SyncError> {
    let fits = |signed: &&Signed| {
        let name = signed.id().to_string();
        let hash = name.split_once('-').map_or("", |(_, hash)| hash);
        !keep.is_empty() && (name.starts_with(keep) || hash.starts_with(keep))
    };
    let found: Vec<&Signed> = shelf.shared.replica.whole().filter(fits).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        several => {
            let keep = keep.chars().take(100).collect();
            Err(SyncError::WhichRevision { keep, found: several.len() })
        }
    }
}

/// What there is to choose from; none when nothing is shared. The session bears the name that it has here,
/// if it has one: what a revision calls it may be the name of another one.
pub(super) fn view(
    context: &Sync,
    shelf: &Shelf,
    name: Option<&SessionName>,
) -> Option<ConflictView> {
    let counts = current(context, shelf)?;
    let whole: Vec<&Signed> = shelf.shared.replica.whole().collect();
    let mut siblings: Vec<RevisionView> =
        whole.iter().filter(|one| one.id() != counts.id()).map(|one| revision(one)).collect();
    siblings.sort_by_key(|sibling| std::cmp::Reverse(sibling.last_modified));
    Some(ConflictView {
        session_id: counts.session,
        name: name.unwrap_or(&counts.name).clone(),
        current: revision(counts),
        siblings,
    })
}

fn revision(signed: &Signed) -> RevisionView {
    RevisionView {
        rev: signed.id(),
        node_id: signed.node(),
        last_modified: signed.modified_at,
        checksum: signed.checksum,
        size: signed.size,
        deleted: signed.deleted,
    }
}

/// How the revisions of a session differ between which someone has to choose: by site, and without a
/// value. It is read, and nothing changes.
pub async fn conflict(
    context: &Sync,
    caller: &Caller,
    reference: &str,
) -> Result<ConflictDetails, SyncError> {
    let session = context.find(&caller.owner, reference).await?;
    let shelf = Shelf::expect(context, &caller.owner, session.id).await?;
    let gone = || SyncError::NotShared { session: session.id.to_string() };
    let conflict = view(context, &shelf, Some(&session.name)).ok_or_else(gone)?;
    let mut differences = Vec::with_capacity(conflict.siblings.len());
    if !conflict.siblings.is_empty() {
        let reader = Reader { context, shelf: &shelf, session: session.id };
        let current = reader.read(&conflict.current).await?.map(|state| state.map(Arc::new));
        for sibling in &conflict.siblings {
            differences.push(reader.compare(&current, sibling).await?);
        }
    }
    Ok(ConflictDetails { conflict, differences })
}

/// What a revision holds, none when it deletes the session; or why it cannot be read.
type Held<T> = Result<Option<T>, String>;

/// Reads the revisions of one session.
struct Reader<'a> {
    context: &'a Sync,
    shelf: &'a Shelf,
    session: SessionId,
}

impl Reader<'_> {
    /// Compares a sibling with what counts; one at a time is in memory beside it.
    async fn compare(
        &self,
        current: &Held<Arc<State>>,
        sibling: &RevisionView,
    ) -> Result<RevisionDifference, SyncError> {
        let rev = sibling.rev;
        let nothing = |unreadable| RevisionDifference { rev, sites: Vec::new(), unreadable };
        let before = match current {
            Ok(Some(state)) => Arc::clone(state),
            Ok(None) => return Ok(nothing(None)),
            Err(why) => return Ok(nothing(Some(why.clone()))),
        };
        match self.read(sibling).await? {
            Ok(Some(after)) => {
                let sites = blocking(move || diff(&before, &after).by_site()).await?;
                Ok(RevisionDifference { rev, sites, unreadable: None })
            }
            Ok(None) => Ok(nothing(None)),
            Err(why) => Ok(nothing(Some(why))),
        }
    }

    /// What of one cannot be read must not keep anybody from choosing.
    async fn read(&self, revision: &RevisionView) -> Result<Held<State>, SyncError> {
        if revision.deleted {
            return Ok(Ok(None));
        }
        match self.state(revision.rev).await {
            Ok(state) => Ok(Ok(Some(state))),
            Err(SyncError::Runtime(RuntimeError::Store(error))) if is_unreadable(&error) => {
                Ok(Err(error.to_string()))
            }
            Err(error @ SyncError::Runtime(_)) => Err(error),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    async fn state(&self, rev: RevisionId) -> Result<State, SyncError> {
        let (store, owner) = (&self.context.store, &self.shelf.owner);
        let held = store.fetch_content(owner, self.session, rev).await?;
        let held = held.ok_or(SyncError::NoContent { rev })?;
        contents::state(self.context, owner, &contents::shared_parts(&held)).await
    }
}
