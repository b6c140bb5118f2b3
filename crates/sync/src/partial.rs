//! What is here of a session of which this node was given a part.
//!
//! The one idea: the part is shared, and all else that the browser here holds is this node's own. No peer
//! hears of it, because none asked for it; and what arrives takes the place of the part only. Where it is
//! damaged, what a resume would take is taken.

use crate::contents::{self, Contents, shared_parts};
use crate::context::Sync;
use crate::error::SyncError;
use crate::reconcile::aside;
use crate::shelf::Shelf;
use baton_runtime::live::LiveError;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::revision::merge::seen_by;
use baton_session::revision::{Knowledge, PartList};
use baton_session::view::mix;
use baton_session::{Part, Receipt, Session, Signed, Site, State, StateKind, parts, wire};
use baton_store::blocking::blocking;
use baton_store::{NewSnapshot, RevisionContent, Snapshot};

/// What a revision says that is made of a snapshot, and what holds it: the part of which `base` speaks, or
/// the snapshot as it is.
pub(super) async fn of(
    context: &Sync,
    shelf: &Shelf,
    snapshot: &Snapshot,
    base: Option<&Signed>,
) -> Result<(Contents, RevisionContent), SyncError> {
    let Some(base) = base.filter(|base| base.is_partial()) else {
        let contents = contents::of(context, &shelf.owner, snapshot).await?;
        return Ok((contents, RevisionContent::Existing(snapshot.id)));
    };
    let state = contents::state(context, &shelf.owner, &shared_parts(snapshot)).await?;
    let knowledge = base.knowledge();
    let (contents, parts) = blocking(move || cut(&seen_by(&knowledge, &state))).await?;
    Ok((contents, RevisionContent::New(NewSnapshot { parts, ..aside(shelf) })))
}

/// A state as parts, and what a revision says of it.
pub(super) fn cut(state: &State) -> (Contents, Vec<Part>) {
    let parts = parts::split(state);
    let list = PartList::new(&parts.iter().map(Part::reference).collect::<Vec<_>>());
    (Contents { list, checksum: wire::checksum_of(state) }, parts)
}

/// The snapshot on which the working copy stands once `current` has arrived: that, and what is this node's
/// own. And what of its own could not be read.
pub(super) async fn with_own(
    context: &Sync,
    shelf: &Shelf,
    session: &Session,
    current: &Signed,
    held: &Snapshot,
) -> Result<(NewSnapshot, Receipt), SyncError> {
    let new = NewSnapshot { sibling: false, ..aside(shelf) };
    let alone = |new| NewSnapshot { carried: held.parts.clone(), ..new };
    if !current.is_partial() {
        return Ok((alone(new), Receipt::default()));
    }
    let own = match Box::pin(context.supervisor.load_last_good(session)).await {
        Ok(own) => own,
        Err(LiveError::NoSnapshot(_)) => return Ok((alone(new), Receipt::default())),
        Err(LiveError::SnapshotsDamaged { why, .. }) => {
            let lost = ReceiptItem::rejected(ItemKind::Part, "what is only here", why);
            return Ok((alone(new), Receipt::from_iter([lost])));
        }
        Err(error) => return Err(error.into()),
    };
    let shared = contents::state(context, &shelf.owner, &shared_parts(held)).await?;
    let over = over(current.knowledge(), shared, own.state);
    let parts = blocking(move || parts::split(&over())).await?;
    Ok((NewSnapshot { parts, ..new }, own.receipt))
}

/// Puts what a revision says over what else there is.
pub(super) fn over(
    knowledge: Knowledge,
    says: State,
    under: State,
) -> impl FnOnce() -> State + Send + 'static {
    move || mix(&says, &under, |site, kind| has(&knowledge, site, kind))
}

/// Whether a revision speaks of a place.
fn has(knowledge: &Knowledge, site: Option<&Site>, kind: StateKind) -> bool {
    knowledge.views().any(|view| view.has(site, kind))
}
