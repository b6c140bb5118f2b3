//! Makes a revision of a snapshot, on top of the one that its session comes from.

use super::contents::Contents;
use super::error::SyncError;
use super::reconcile::reconcile;
use super::shelf::{ATTEMPTS, Along, Shelf, author, is_race};
use super::{lease, partial};
use crate::context::Sync;
use baton_session::revision::{Content, Origin};
use baton_session::{Lifecycle, RevisionId, Session, SessionName, Signed};
use baton_store::Snapshot;

/// What a session is called, when it is saved under another name.
#[derive(Debug, Clone, Default)]
pub(super) struct Titles {
    pub(super) name: Option<SessionName>,
    pub(super) description: Option<String>,
}

/// Who wants a revision of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Somebody saves the session: what they have counts, also beside a deletion that came meanwhile.
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
    wanted: Wanted,
) -> Result<Saved, SyncError> {
    for _ in 0..ATTEMPTS {
        let mut shelf = Shelf::take(context, &session.owner, session.id).await?;
        let is_deleted = shelf.shared.replica.current().is_some_and(|current| current.deleted);
        let revives = is_deleted && wanted == Wanted::Saved;
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
            lease::hold_if_free(&mut shelf, session.node);
        }
        let contents = vec![(revision.id(), held_as)];
        let released = shelf.released(&before);
        match shelf.put_back(context, Along { contents, released, ..Along::default() }).await {
            Err(error) if is_race(&error) => {}
            put => {
                put?;
                reconcile(context, &session.owner, session.id).await?;
                let conflicts =
                    sibling_ids(&Shelf::take(context, &session.owner, session.id).await?);
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
