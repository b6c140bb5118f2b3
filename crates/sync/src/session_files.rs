//! Session files for callers that are no nodes: the current revision is given as one, and one is taken as a
//! revision that this node writes.
//!
//! The one idea: a number proves nothing. Only who names the revision that the file comes from has seen it; a
//! file that names none goes beside what is here, as a conflict.

use crate::contents::{shared_parts, state};
use crate::context::Sync;
use crate::error::SyncError;
use crate::partial::{CameAlong, came_along};
use crate::reconcile::{aside, reconcile};
use crate::save::tell_by_itself;
use crate::shelf::{ATTEMPTS, Along, Shelf, author, is_race, row};
use crate::working::{advance, current, keep_unsaved};
use baton_api::sync::SavedView;
use baton_api::{FileText, Scope};
use baton_runtime::audit::{Action, Note};
use baton_runtime::sessions::check;
use baton_runtime::{Caller, RuntimeError};
use baton_session::cookie::Expiry;
use baton_session::import::{FileForm, Imported};
use baton_session::revision::merge::is_within;
use baton_session::revision::{Content, Origin, PartList};
use baton_session::wire::{Head, NodeType, Provenance, SessionFile, Version};
use baton_session::{
    Lifecycle, NodeId, Owner, Part, PartHash, Receipt, RevisionId, Session, SessionId, SessionName,
    Signed, admit, import, parts, wire,
};
use baton_store::blocking::blocking;
use baton_store::{NewSnapshot, RevisionContent, clock};
use jiff::Timestamp;
use std::time::Duration;

/// The current revision of a session as a file, and its name, which an upload based on it repeats. Needs the
/// scope `reveal`: a person with the file is logged in.
pub async fn download(
    context: &Sync,
    caller: &Caller,
    session: SessionId,
) -> Result<(RevisionId, FileText), SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::Export, session.to_string());
    let file = async {
        caller.require(Scope::Reveal)?;
        read_current(context, caller, session).await
    };
    note.end(&context.store, file.await).await
}

async fn read_current(
    context: &Sync,
    caller: &Caller,
    session: SessionId,
) -> Result<(RevisionId, FileText), SyncError> {
    let shelf = Shelf::expect(context, &caller.owner, session).await?;
    let gone = || SyncError::NotShared { session: session.to_string() };
    let revision = current(context, &shelf).filter(|current| !current.deleted);
    let revision = revision.ok_or_else(gone)?.clone();
    let held = context.store.fetch_content(&caller.owner, session, revision.id()).await?;
    let held = held.ok_or(SyncError::NoContent { rev: revision.id() })?;
    let state = state(context, &caller.owner, &shared_parts(&held)).await?;
    let about = head(context, &caller.owner, &shelf, &revision).await?;
    let file = SessionFile { head: about, state };
    let text = blocking(move || wire::write(&file)).await?;
    let limit = baton_runtime::sessions::FILE_LIMIT;
    if text.len() > limit {
        let (name, size) = (revision.name.clone(), text.len());
        return Err(RuntimeError::FileTooLarge { name, size, limit }.into());
    }
    let file = FileText::new(text).map_err(|source| {
        SyncError::Runtime(RuntimeError::NotShown { name: revision.name.clone(), source })
    })?;
    Ok((revision.id(), file))
}

/// What a file says of the session itself.
pub(super) async fn head(
    context: &Sync,
    owner: &Owner,
    shelf: &Shelf,
    revision: &Signed,
) -> Result<Head, SyncError> {
    let acks = context.store.list_acks(owner, revision.session).await?;
    let have = acks.into_iter().filter(|(_, rev, _)| *rev == revision.id());
    let (made, by) = (revision.origin.created_at, revision.origin.created_by.clone());
    let origin = provenance(context, owner, revision.origin.node, made, by).await?;
    Ok(Head {
        id: revision.session.to_string(),
        name: revision.name.to_string(),
        description: revision.description.clone(),
        origin,
        sync: Version {
            version: revision.version,
            last_modified: Some(revision.modified_at),
            last_synced_to: have.map(|(node, _, _)| node.to_string()).collect(),
            rev: Some(revision.id()),
            vector: revision.vector.clone(),
            parents: revision.parents.clone(),
            deleted: revision.deleted,
            conflicts: shelf.shared.replica.siblings().iter().map(|one| one.id()).collect(),
            ..Version::default()
        },
    })
}

const HOLD_LIMIT: Duration = Duration::from_mins(1);

/// A file that was read.
struct File {
    session: SessionId,
    name: SessionName,
    description: String,
    created_at: Timestamp,
    parts: Vec<Part>,
    checksum: PartHash,
    left_out: Receipt,
}

/// Stores a session file as a revision on top of `based_on`, which must be current. Without one, it is
/// the first revision of the session, or it conflicts with what is here.
pub async fn upload(
    context: &Sync,
    caller: &Caller,
    file: FileText,
    based_on: Option<RevisionId>,
) -> Result<SavedView, SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::Receive, "a session file");
    let uploaded = receive_file(context, caller, file, based_on).await;
    let note = match &uploaded {
        Ok(view) => note.about(view.id.to_string()).with("rev", view.rev.to_string()),
        Err(_) => note,
    };
    note.end(&context.store, uploaded).await
}

async fn receive_file(
    context: &Sync,
    caller: &Caller,
    file: FileText,
    based_on: Option<RevisionId>,
) -> Result<SavedView, SyncError> {
    let now = clock::now();
    let file = blocking(move || read_file(&file, now)).await??;
    check::name(&file.name)?;
    check::description(Some(&file.description))?;
    let hold = context.hold(file.session, "received", HOLD_LIMIT).await?;
    if let Some(row) = row(context, &caller.owner, file.session).await? {
        keep_unsaved(context, &row).await?;
    }
    for _ in 0..ATTEMPTS {
        match attempt(context, caller, &file, based_on).await {
            Err(error) if is_race(&error) => {}
            Err(error) => return Err(error),
            Ok(mut view) => {
                reconcile(context, &caller.owner, file.session).await?;
                advance(context, &caller.owner, &hold).await?;
                tell_by_itself(context, &caller.owner, file.session);
                let shelf = Shelf::load(context, &caller.owner, file.session).await?;
                let siblings = shelf.shared.replica.siblings();
                view.conflicts = siblings.iter().map(|sibling| sibling.id()).collect();
                view.left_out = file.left_out;
                return Ok(view);
            }
        }
    }
    Err(SyncError::Contended { session: file.session })
}

async fn attempt(
    context: &Sync,
    caller: &Caller,
    file: &File,
    based_on: Option<RevisionId>,
) -> Result<SavedView, SyncError> {
    let mut shelf = Shelf::load(context, &caller.owner, file.session).await?;
    let base = base(&shelf, based_on)?;
    expect_within(context, &caller.owner, file, base.as_ref()).await?;
    let here = row(context, &caller.owner, file.session).await?;
    let create = match &here {
        None => Some(new_row(context, caller, file)),
        Some(_) => None,
    };
    let lines: Vec<_> = file.parts.iter().map(Part::reference).collect();
    let list = PartList::new(&lines);
    let limit = context.own.settings.session_bytes;
    if list.size() > limit {
        return Err(SyncError::FileTooLarge { limit, found: list.size() });
    }
    let created = here.as_ref().map_or(file.created_at, |row| row.created_at);
    let origin =
        Origin { node: context.node, created_at: created, created_by: caller.owner.to_string() };
    let says = Content {
        checksum: file.checksum,
        parts: list.hash(),
        size: list.size(),
        name: file.name.clone(),
        description: file.description.clone(),
        origin: base.as_ref().map_or(origin, |base| base.origin.clone()),
    };
    let (before, known) = (shelf.whole(), shelf.shared.replica.clone());
    let revision = shelf.shared.replica.edit(base.as_ref(), says, &author(context));
    if known.find(revision.id()).is_some() {
        return unchanged(context, &shelf, &revision).await;
    }
    let new = NewSnapshot { parts: file.parts.clone(), sibling: here.is_some(), ..aside(&shelf) };
    let snapshot = new.id;
    if create.is_some() {
        shelf.stand_on(revision.clone(), snapshot);
    }
    let contents = vec![(revision.id(), RevisionContent::New(new))];
    let released = shelf.released(&before);
    let along = Along { create: create.as_ref(), contents, released, forget: None };
    shelf.put_back(context, along).await?;
    Ok(view(&revision, snapshot))
}

/// Checks that a file that comes from a part of a session says nothing beyond that, and has the way out that came
/// along.
async fn expect_within(
    context: &Sync,
    owner: &Owner,
    file: &File,
    base: Option<&Signed>,
) -> Result<(), SyncError> {
    let Some(base) = base.filter(|base| base.is_partial()) else { return Ok(()) };
    let (knowledge, parts) = (base.knowledge(), file.parts.clone());
    let came_along = came_along(context, owner, base).await?;
    let is_seen = move || {
        let (state, _) = parts::join(&parts);
        let is_same = |CameAlong(egress)| egress == state.environment.egress;
        came_along.is_none_or(is_same) && is_within(&knowledge, &state)
    };
    if blocking(is_seen).await? {
        return Ok(());
    }
    Err(SyncError::BeyondViews { rev: base.id() })
}

/// A file that says what a revision here has said already.
async fn unchanged(
    context: &Sync,
    shelf: &Shelf,
    revision: &Signed,
) -> Result<SavedView, SyncError> {
    let held = context.store.fetch_content(&shelf.owner, revision.session, revision.id()).await?;
    let held = held.map(|held| held.id).or(shelf.shared.base.as_ref().map(|base| base.snapshot));
    let snapshot = held.ok_or(SyncError::NoContent { rev: revision.id() })?;
    Ok(SavedView { unchanged: true, ..view(revision, snapshot) })
}

/// The revision that the file comes from, if that is the newest.
fn base(shelf: &Shelf, based_on: Option<RevisionId>) -> Result<Option<Signed>, SyncError> {
    let Some(expected) = based_on else { return Ok(None) };
    let replica = &shelf.shared.replica;
    if let Some(head) = replica.heads().find(|head| head.id() == expected) {
        return Ok(Some(head.clone()));
    }
    let found = replica.current().map(Signed::id);
    Err(SyncError::OtherRevision { expected, found })
}

fn new_row(context: &Sync, caller: &Caller, file: &File) -> Session {
    Session {
        id: file.session,
        name: file.name.clone(),
        description: file.description.clone(),
        owner: caller.owner.clone(),
        node: context.node,
        headed: false,
        debug: false,
        lifecycle: Lifecycle::Recoverable,
        created_at: file.created_at,
        updated_at: clock::now(),
    }
}

fn view(revision: &Signed, snapshot: baton_session::SnapshotId) -> SavedView {
    SavedView {
        id: revision.session,
        name: revision.name.clone(),
        rev: revision.id(),
        version: revision.version,
        checksum: revision.checksum,
        snapshot,
        unchanged: false,
        conflicts: Vec::new(),
        pushed: Vec::new(),
        failed: Vec::new(),
        left_out: Receipt::default(),
    }
}

/// Reads a session file, and takes of it what a browser can be given.
fn read_file(file: &FileText, now: Timestamp) -> Result<File, SyncError> {
    let bad = |reason: String| SyncError::Runtime(RuntimeError::BadFile { reason });
    let read = import::read(file.as_str().as_bytes());
    let Imported { form, head, mut state, mut left_out } =
        read.map_err(|error| bad(error.to_string()))?;
    if form != FileForm::SessionFile {
        let hint = "baton import makes a session of it";
        return Err(bad(format!(
            "this is {form}; expected a session file, which has an id\n{hint}"
        )));
    }
    let session = head.id.parse::<SessionId>();
    let session = session.map_err(|error| bad(format!("in the session file, at id: {error}")))?;
    let name = head.name.parse().map_err(|_| SyncError::Runtime(RuntimeError::NoName))?;
    left_out.extend(admit::admit(&mut state, Expiry(now.as_microsecond())));
    check::environment_of_file(&mut state.environment, &mut left_out)?;
    Ok(File {
        session,
        name,
        description: head.description,
        created_at: head.origin.created_at.unwrap_or(now),
        checksum: wire::checksum_of(&state),
        parts: parts::split(&state),
        left_out,
    })
}

/// Where a session was made, by whom and when: of this node what its settings say, of a peer what it has said.
/// Of any other node nothing is known but its id.
pub(crate) async fn provenance(
    context: &Sync,
    owner: &Owner,
    node: NodeId,
    created_at: Timestamp,
    created_by: String,
) -> Result<Provenance, SyncError> {
    let (node_type, url) = if node == context.node {
        let own = &context.own.node_settings;
        let url = own.public_url.as_ref().or(own.internal_url.as_ref());
        (own.node_type, url.map(ToString::to_string))
    } else {
        let peers = context.store.list_peers(owner).await?;
        let known = peers.into_iter().find(|peer| peer.node == node);
        known.map_or((NodeType::Hosted, None), |peer| (peer.node_type, peer.url))
    };
    Ok(Provenance {
        node_id: node.to_string(),
        node_type,
        node_url: url.unwrap_or_default(),
        created_at: Some(created_at),
        created_by,
    })
}
