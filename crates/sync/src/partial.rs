//! Sessions in part: what a peer sees of one of which it is given a part, and what is here of one of which
//! this node was given a part.
//!
//! The one idea: what is shown is made when a peer asks, from what is here, and every node that shows the
//! same makes the same of it. Most of its parts are those of the whole. The others are made for it, and
//! remembered for a while, because a peer that is shown a list asks for its parts.
//!
//! The part is shared, and all else that the browser here holds is this node's own. No peer
//! hears of it, because none asked for it; and what arrives takes the place of the part only. Where it is
//! damaged, what a resume would take is taken. The way out to the network goes along with a part, and is only for
//! who has the whole session to change.

use crate::contents;
use crate::contents::{Contents, is_damage, shared_parts};
use crate::context::Sync;
use crate::context::given::{GivenKey, SeenRevision};
use crate::damage::DamageError;
use crate::error::SyncError;
use crate::parcels::fetch_among;
use crate::reconcile::aside;
use crate::shelf::Shelf;
use baton_api::sync::{Parcel, Wanted};
use baton_runtime::latest::last_good;
use baton_runtime::live::LiveError;
use baton_session::egress::Egress;
use baton_session::receipt::{ItemKind, ReceiptItem};
use baton_session::revision::merge::seen_by;
use baton_session::revision::{Content, Knowledge, PartList};
use baton_session::view::mix;
use baton_session::{
    NodeSecret, Owner, Part, PartHash, PartKind, PartRef, Receipt, RevisionId, Session, SessionId,
    Signed, Site, State, StateKind, View, parts, wire,
};
use baton_store::blocking::blocking;
use baton_store::{NewSnapshot, PackedPart, RevisionContent, Snapshot, StoreError};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// What a peer sees of a session: of each revision, by the one that it is seen of. One that the peer gets as
/// it is has none here; of one that it sees nothing of, it hears nothing.
pub(super) struct SeenRevisions(BTreeMap<RevisionId, Option<Arc<SeenRevision>>>);

impl SeenRevisions {
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
        seen_of(context, owner, signed, view, conflicts.collect()).await
    }

    /// The revisions to tell, see [`offer_seen`](baton_session::Replica::offer_seen).
    pub(super) fn revisions(&self) -> BTreeMap<RevisionId, Option<Signed>> {
        let signed =
            |seen: &Option<Arc<SeenRevision>>| seen.as_ref().map(|seen| seen.signed.clone());
        self.0.iter().map(|(id, seen)| (*id, signed(seen))).collect()
    }

    /// Whether the peer sees nothing at all of what counts.
    pub(super) fn is_nothing(&self, of: &Shelf) -> bool {
        let is_nothing = |head: &Signed| match self.0.get(&head.id()) {
            None => false,
            Some(seen) => seen.as_ref().is_none_or(|seen| seen.is_empty),
        };
        of.shared.replica.heads().all(is_nothing)
    }

    /// Of which parts a revision is made that the peer sees.
    pub(super) fn list(&self, id: RevisionId) -> Option<&PartList> {
        self.0.values().flatten().find(|seen| seen.signed.id() == id).map(|seen| &seen.list)
    }

    /// A part that was made for them.
    pub(super) fn made(&self, hash: &PartHash) -> Option<&PackedPart> {
        self.0.values().flatten().find_map(|seen| seen.made.get(hash))
    }
}

/// Whether the peer sees anything of a session at all.
pub async fn is_seen(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    view: &View,
) -> Result<bool, SyncError> {
    if view.is_whole() {
        return Ok(true);
    }
    let shelf = Shelf::load(context, owner, session).await?;
    let Some(current) = shelf.shared.replica.current() else { return Ok(false) };
    if current.deleted || !current.is_seen(view) {
        return Ok(false);
    }
    Ok(!seen_of(context, owner, current, view, Vec::new()).await?.is_empty)
}

/// What is seen of one revision.
async fn seen_of(
    context: &Sync,
    owner: &Owner,
    signed: &Signed,
    view: &View,
    conflicts: Vec<RevisionId>,
) -> Result<Arc<SeenRevision>, SyncError> {
    let (owner_too, view_too, named) = (owner.clone(), view.clone(), conflicts.clone());
    let key =
        GivenKey { owner: owner_too, revision: signed.id(), view: view_too, conflicts: named };
    if let Some(known) = context.own.looks.get(&key) {
        return Ok(known);
    }
    let secret = context.own.identity.now().secret().clone();
    let (signed, view) = (signed.clone(), view.clone());
    let seen = if signed.deleted {
        let says = Content::deleted(signed.name.clone(), signed.origin.clone());
        let signed = signed.seen_through(&view, says, conflicts, &secret);
        let (list, made) = Default::default();
        SeenRevision { signed, list, made, is_empty: false }
    } else {
        let session = signed.session;
        let held = context.store.fetch_content(owner, session, signed.id()).await?;
        let held = held.ok_or(SyncError::NoContent { rev: signed.id() })?;
        let whole = shared_parts(&held);
        let state = contents::state(context, owner, &whole).await;
        let state = state.map_err(|error| unnamed(&signed, error))?;
        blocking(move || cut_for(&signed, &whole, &view.of(&state), (&view, conflicts, &secret)))
            .await?
    };
    let seen = Arc::new(seen);
    context.own.looks.insert(key, &seen);
    Ok(seen)
}

/// What is damaged may be of a site of which the peer hears nothing: its name is for the log.
fn unnamed(signed: &Signed, error: SyncError) -> SyncError {
    if !is_damage(&error) {
        return error;
    }
    let (session, rev) = (signed.session, signed.id());
    tracing::error!(%session, %rev, %error, "nothing is given of a revision that is damaged");
    SyncError::from(DamageError::Hurt { rev })
}

/// The revision that says what is seen of one, with the parts that this one has not.
fn cut_for(
    signed: &Signed,
    whole: &[PartRef],
    state: &State,
    (view, conflicts, secret): (&View, Vec<RevisionId>, &NodeSecret),
) -> SeenRevision {
    let parts = parts::split(state);
    let list = PartList::new(&parts.iter().map(Part::reference).collect::<Vec<_>>());
    let content = Content {
        checksum: wire::checksum_of(state),
        parts: list.hash(),
        size: list.size(),
        ..signed.content()
    };
    let known: HashSet<PartHash> = whole.iter().map(|part| part.hash).collect();
    let made = parts.into_iter().filter_map(|part| {
        let reference = part.reference();
        let is_new = !known.contains(&reference.hash);
        is_new.then(|| (reference.hash, PackedPart::said_to_be(reference, &part.bytes)))
    });
    let made = made.collect();
    let is_empty = state.cookies.is_empty() && state.origins.is_empty() && state.tabs.is_empty();
    let signed = signed.seen_through(view, content, conflicts, secret);
    SeenRevision { signed, list, made, is_empty }
}

/// The parts that are asked for, if they belong to what the peer sees of the session.
pub(super) async fn fetch_seen(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    view: &View,
    wanted: &[Wanted],
) -> Result<Vec<Parcel>, SyncError> {
    let shelf = Shelf::expect(context, owner, session).await?;
    let seen = SeenRevisions::of(context, &shelf, view).await?;
    let told = shown_parts(context, &shelf, &seen).await?;
    let is_made = |wanted: &&Wanted| seen.made(&wanted.part).is_some();
    let stored: Vec<Wanted> = wanted.iter().filter(|one| !is_made(one)).copied().collect();
    let mut stored = fetch_among(context, owner, session, &told, &stored).await?.into_iter();
    let parcel = |wanted: &Wanted| match seen.made(&wanted.part) {
        Some(PackedPart { part, packed }) => {
            Some(Parcel { part: part.clone(), base: None, bytes: packed.clone() })
        }
        None => stored.next(),
    };
    Ok(wanted.iter().filter_map(parcel).collect())
}

/// Parts that the peer hears of, whole, in the same order.
pub(super) async fn pack(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    view: &View,
    parts: &[PartRef],
) -> Result<Vec<Parcel>, SyncError> {
    let shelf = Shelf::expect(context, owner, session).await?;
    let seen = SeenRevisions::of(context, &shelf, view).await?;
    let is_stored = |part: &&PartRef| seen.made(&part.hash).is_none();
    let stored: Vec<PartRef> = parts.iter().filter(is_stored).cloned().collect();
    let mut stored = context.store.fetch_packed(owner, &stored).await?.into_iter();
    let mut parcels = Vec::with_capacity(parts.len());
    for part in parts {
        let packed = match seen.made(&part.hash) {
            Some(made) => Some(made.clone()),
            None => stored.next().transpose()?,
        };
        let bytes = packed.map(|packed| packed.packed).unwrap_or_default();
        parcels.push(Parcel { part: part.clone(), base: None, bytes });
    }
    Ok(parcels)
}

/// The parts that the peer hears of.
async fn shown_parts(
    context: &Sync,
    shelf: &Shelf,
    seen: &SeenRevisions,
) -> Result<HashMap<PartHash, PartRef>, SyncError> {
    let mut told = HashMap::new();
    for revision in shelf.shared.replica.whole().filter(|one| !one.deleted) {
        let parts: Vec<PartRef> = if let Some(shown) = seen.0.get(&revision.id()) {
            shown.iter().flat_map(|shown| shown.list.parts()).collect()
        } else {
            let (owner, session) = (&shelf.owner, revision.session);
            let held = context.store.fetch_content(owner, session, revision.id()).await?;
            held.iter().flat_map(shared_parts).collect()
        };
        told.extend(parts.into_iter().map(|part| (part.hash, part)));
    }
    Ok(told)
}

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
    let came_along = came_along(context, &shelf.owner, base).await?;
    let work = move || {
        let mut seen = seen_by(&knowledge, &state);
        if let Some(CameAlong(egress)) = came_along {
            seen.environment.egress = egress;
        }
        cut(&seen)
    };
    let (contents, parts) = blocking(work).await?;
    Ok((contents, RevisionContent::New(NewSnapshot { parts, ..aside(shelf) })))
}

/// The way out that came along with a part, if one did.
pub(super) struct CameAlong(pub(super) Option<Egress>);

/// The way out that came along with a revision; none when its content is here no more. A part never says what
/// that is: what is written on top of one says the same.
pub(super) async fn came_along(
    context: &Sync,
    owner: &Owner,
    revision: &Signed,
) -> Result<Option<CameAlong>, SyncError> {
    let held = context.store.fetch_content(owner, revision.session, revision.id()).await?;
    let Some(held) = held else { return Ok(None) };
    let is_it = |part: &&PartRef| part.kind == PartKind::Egress;
    let parts: Vec<PartRef> = held.parts.iter().filter(is_it).cloned().collect();
    let state = contents::state(context, owner, &parts).await?;
    Ok(Some(CameAlong(state.environment.egress)))
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
        Err(LiveError::SnapshotsDamaged { id, why }) => {
            if !has_way_out(held) && had_way_out(context, session).await? {
                // What says where it may go is damaged, and did not come: it would go everywhere.
                return Err(LiveError::SnapshotsDamaged { id, why }.into());
            }
            let lost = ReceiptItem::rejected(ItemKind::Part, "what is only here", why);
            return Ok((alone(new), Receipt::from_iter([lost])));
        }
        Err(error) => return Err(error.into()),
    };
    let shared = contents::state(context, &shelf.owner, &shared_parts(held)).await?;
    let way_out = way_out(&shared, &own.state);
    let over = over(current.knowledge(), shared, own.state);
    let split = move || {
        let mut state = over();
        state.environment.egress = way_out;
        parts::split(&state)
    };
    let parts = blocking(split).await?;
    Ok((NewSnapshot { parts, ..new }, own.receipt))
}

/// The way out that came along with a part, completed by what is known of its proxy here; where none came, the
/// one that is here already.
fn way_out(shared: &State, own: &State) -> Option<Egress> {
    let known = own.environment.egress.as_ref();
    let came = shared.environment.egress.clone();
    came.map(|egress| egress.completed_by(known)).or_else(|| known.cloned())
}

fn has_way_out(snapshot: &Snapshot) -> bool {
    snapshot.parts.iter().any(|part| part.kind == PartKind::Egress)
}

/// Whether the session had a way out in the newest snapshot of which the list of parts can be read.
async fn had_way_out(context: &Sync, session: &Session) -> Result<bool, SyncError> {
    match last_good(&context.store, session.id).await {
        Err(StoreError::SnapshotCorrupt { .. }) => Ok(false),
        found => Ok(found?.is_some_and(|found| has_way_out(&found.snapshot))),
    }
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
