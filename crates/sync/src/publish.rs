//! Makes a revision of a snapshot, on top of the one that its session comes from.
//!
//! The one idea: what is published is whole. Where parts of the last good snapshot are damaged, the one that
//! a resume would take is taken, if that is whole; but never one from before the last revision, which would
//! take every node back behind what it has.

use crate::contents::{Contents, is_damage};
use crate::context::Sync;
use crate::error::SyncError;
use crate::partial;
use crate::reconcile::reconcile;
use crate::shelf::{ATTEMPTS, Along, Shelf, author, hold_if_free, is_race};
use baton_runtime::RuntimeError;
use baton_runtime::latest::{Latest, last_good};
use baton_runtime::live::Loaded;
use baton_session::revision::{Content, Origin};
use baton_session::{Lifecycle, Receipt, RevisionId, Session, SessionName, Signed, SnapshotId};
use baton_store::{Snapshot, StoreError};

/// What a session is called, when it is saved under another name.
#[derive(Debug, Clone, Default)]
pub(super) struct Titles {
    pub(super) name: Option<SessionName>,
    pub(super) description: Option<String>,
}

/// Who wants a revision of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WantedBy {
    /// A caller saves the session: what is here counts, also beside a deletion that came meanwhile.
    Saved,
    /// This node keeps what would be lost. What a deletion has seen already is not brought back by that.
    Kept,
}

/// What was saved.
pub(super) struct Saved {
    pub(super) revision: Signed,
    pub(super) unchanged: bool,
    pub(super) conflicts: Vec<RevisionId>,
}

/// Makes a revision of a snapshot, on top of the one that the session comes from. One that says the
/// same is not made again. The caller holds the session.
pub(super) async fn publish(
    context: &Sync,
    session: &Session,
    snapshot: &Snapshot,
    titles: &Titles,
    wanted: WantedBy,
) -> Result<Saved, SyncError> {
    for _ in 0..ATTEMPTS {
        let mut shelf = Shelf::load(context, &session.owner, session.id).await?;
        let is_deleted = shelf.shared.replica.current().is_some_and(|current| current.deleted);
        let revives = is_deleted && wanted == WantedBy::Saved;
        let base = shelf.shared.base.clone().map(|base| base.revision);
        let (says, held_as) = partial::of(context, &shelf, snapshot, base.as_ref()).await?;
        let Contents { list, checksum } = says;
        let (name, description) = titles_of(session, base.as_ref(), titles);
        let is_same = |base: &Signed| {
            (base.checksum, &base.name, &base.description) == (checksum, &name, &description)
        };
        if let Some(revision) = base.clone().filter(is_same).filter(|_| !revives) {
            let conflicts = sibling_ids(&shelf);
            return Ok(Saved { revision, unchanged: true, conflicts });
        }
        let origin = base.as_ref().map_or_else(|| origin(session), |base| base.origin.clone());
        let (parts, size) = (list.hash(), list.size());
        let says = Content { checksum, parts, size, name, description, origin };
        let before = shelf.whole();
        let revision = shelf.shared.replica.edit(base.as_ref(), says, &author(context));
        shelf.stand_on(revision.clone(), snapshot.id);
        if session.lifecycle == Lifecycle::Active {
            hold_if_free(&mut shelf, session.node);
        }
        let contents = vec![(revision.id(), held_as)];
        let released = shelf.released(&before);
        match shelf.put_back(context, Along { contents, released, ..Along::default() }).await {
            Err(error) if is_race(&error) => {}
            put => {
                put?;
                reconcile(context, &session.owner, session.id).await?;
                let conflicts =
                    sibling_ids(&Shelf::load(context, &session.owner, session.id).await?);
                return Ok(Saved { revision, unchanged: false, conflicts });
            }
        }
    }
    Err(SyncError::Contended { session: session.id })
}

/// What the revision calls the session: what was asked for, else what it was called before, for the
/// row here may bear another name because that one was taken.
fn titles_of(session: &Session, base: Option<&Signed>, titles: &Titles) -> (SessionName, String) {
    let name = titles.name.clone().or_else(|| base.map(|base| base.name.clone()));
    let description =
        titles.description.clone().or_else(|| base.map(|base| base.description.clone()));
    (
        name.unwrap_or_else(|| session.name.clone()),
        description.unwrap_or_else(|| session.description.clone()),
    )
}

fn origin(session: &Session) -> Origin {
    Origin {
        node: session.node,
        created_at: session.created_at,
        created_by: session.owner.to_string(),
    }
}

fn sibling_ids(shelf: &Shelf) -> Vec<RevisionId> {
    shelf.shared.replica.siblings().iter().map(|sibling| sibling.id()).collect()
}

/// How many older snapshots are looked through.
const LOOKED_THROUGH: u32 = 1000;

/// What became a revision.
pub(super) struct Published {
    pub(super) saved: Saved,
    /// The snapshot that holds it.
    pub(super) snapshot: SnapshotId,
    /// Which newer ones were left aside, and why.
    pub(super) asides: Receipt,
}

/// Makes a revision of the last good snapshot of a session, or of what replaces it. A browser that runs has
/// what is damaged, and is captured anew. Fails with `NothingWhole` when no snapshot since the last revision
/// is whole. The caller holds the session.
pub(super) async fn publish_whole(
    context: &Sync,
    session: &Session,
    titles: &Titles,
    wanted: WantedBy,
) -> Result<Published, SyncError> {
    let damage = match publish_newest(context, session, titles, wanted).await {
        Err(error) if is_damage(&error) => error,
        published => return published,
    };
    if session.lifecycle == Lifecycle::Active {
        context.supervisor.capture_anew(session.id).await?;
        return publish_newest(context, session, titles, wanted).await;
    }
    let loaded = Box::pin(context.supervisor.load_last_good(session)).await?;
    let Loaded { snapshot, receipt: asides, is_whole, is_newest, .. } = loaded;
    if is_newest && is_whole {
        // Something else is damaged, such as a revision that this one is compared with.
        return Err(damage);
    }
    if !is_whole || is_behind(context, session, snapshot).await? {
        return Err(nothing_whole(session, &damage));
    }
    let snapshot = context.store.fetch_snapshot(&session.owner, snapshot).await?;
    let saved = publish(context, session, &snapshot, titles, wanted).await?;
    Ok(Published { saved, snapshot: snapshot.id, asides })
}

/// The same of the newest one of which the list of parts can be read.
async fn publish_newest(
    context: &Sync,
    session: &Session,
    titles: &Titles,
    wanted: WantedBy,
) -> Result<Published, SyncError> {
    let Some(found) = last_good(&context.store, session.id).await? else {
        let name = session.name.clone();
        return Err(RuntimeError::NoSnapshot { name, expected: "a snapshot" }.into());
    };
    let asides = found.asides();
    let Latest { snapshot, damaged, .. } = found;
    if let Some(damage) = damaged
        && is_behind(context, session, snapshot.id).await?
    {
        return Err(nothing_whole(session, &damage.into()));
    }
    let saved = publish(context, session, &snapshot, titles, wanted).await?;
    Ok(Published { saved, snapshot: snapshot.id, asides })
}

/// Whether a snapshot was stored before the one that holds the last revision of the session here.
async fn is_behind(
    context: &Sync,
    session: &Session,
    snapshot: SnapshotId,
) -> Result<bool, SyncError> {
    let shelf = Shelf::load(context, &session.owner, session.id).await?;
    let Some(base) = shelf.shared.base.map(|base| base.snapshot) else { return Ok(false) };
    if base == snapshot {
        return Ok(false);
    }
    let older = context.store.list_history(session.id, Some(snapshot), LOOKED_THROUGH).await?;
    let mut ids = older.iter().filter_map(|found| match found {
        Ok(found) => Some(found.id),
        Err(StoreError::SnapshotCorrupt { id, .. }) => Some(*id),
        Err(_) => None,
    });
    Ok(!ids.any(|id| id == base))
}

fn nothing_whole(session: &Session, damage: &SyncError) -> SyncError {
    let why = damage.to_string();
    let why = why.lines().next().unwrap_or_default().to_owned();
    SyncError::NothingWhole { name: session.name.clone(), why }
}
