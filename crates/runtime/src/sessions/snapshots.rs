//! The snapshots of a session as callers see them: their history, what two differ in, what the latest one
//! holds and looks like.

use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::latest::{Latest, last_good, latest};
use crate::live::LiveError;
use crate::request;
use baton_api::{CompareSnapshots, DiffView, History, ListHistory, SnapshotView, StateView};
use baton_browser::icon::redraw;
use baton_session::diff::diff as compare;
use baton_session::{
    Owner, PartHash, PartKind, PartRef, Session, Site, SnapshotId, State, Unread, parts, redact,
};
use baton_store::blocking::blocking;
use baton_store::{Snapshot, StoreError};
use std::collections::HashMap;

/// One page of a session's snapshots, newest first, and which of them a resume would take.
pub async fn history(
    context: &Runtime,
    owner: &Owner,
    reference: &str,
    query: ListHistory,
) -> Result<History, RuntimeError> {
    let limit = request::limit(query.limit)?;
    let session = context.find(owner, reference).await?;
    // One more than asked for tells whether there is another page.
    let mut found = context.store.list_history(session.id, query.after, limit + 1).await?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let resumes_from = resumes_from(context, &session, query.verify).await?;
    let mut known = HashMap::new();
    let mut shown = History { resumes_from, ..History::default() };
    for snapshot in found {
        let id = match snapshot {
            Ok(snapshot) => {
                let mut item = self::snapshot(&snapshot);
                if query.verify {
                    item.damaged = damaged(context, &session, &snapshot, &mut known).await?;
                }
                shown.items.push(item);
                snapshot.id
            }
            Err(StoreError::SnapshotCorrupt { id, .. }) => {
                shown.damaged.push(id);
                id
            }
            Err(error) => return Err(error.into()),
        };
        shown.next = more.then_some(id);
    }
    Ok(shown)
}

/// The snapshot that a resume would take; by the lists of parts, or by the parts themselves.
async fn resumes_from(
    context: &Runtime,
    session: &Session,
    verify: bool,
) -> Result<Option<SnapshotId>, RuntimeError> {
    if verify {
        return match Box::pin(context.supervisor.load_last_good(session)).await {
            // Nothing could be taken.
            Err(LiveError::SnapshotsDamaged { .. } | LiveError::NoSnapshot(_)) => Ok(None),
            loaded => Ok(Some(loaded?.snapshot)),
        };
    }
    match last_good(&context.store, session.id).await {
        // None of them can be read: nothing could be taken.
        Err(StoreError::SnapshotCorrupt { .. }) => Ok(None),
        found => Ok(found?.map(|found| found.snapshot.id)),
    }
}

/// How many parts of a snapshot are damaged. Each part is read once, however many snapshots have it.
async fn damaged(
    context: &Runtime,
    session: &Session,
    snapshot: &Snapshot,
    known: &mut HashMap<PartHash, bool>,
) -> Result<usize, RuntimeError> {
    let unknown = snapshot.parts.iter().filter(|part| !known.contains_key(&part.hash));
    let unknown: Vec<_> = unknown.cloned().collect();
    known.extend(unknown.iter().map(|part| (part.hash, false)));
    let damaged = context.supervisor.damaged_of(&session.owner, unknown).await?;
    known.extend(damaged.iter().map(|part| (part.hash, true)));
    Ok(snapshot.parts.iter().filter(|part| known[&part.hash]).count())
}

/// What changed from one snapshot of a session to another, without a value of either.
pub async fn diff(
    context: &Runtime,
    owner: &Owner,
    reference: &str,
    query: CompareSnapshots,
) -> Result<DiffView, RuntimeError> {
    let session = context.find(owner, reference).await?;
    let a = context.store.find_snapshot(session.id, &query.a).await?;
    let b = context.store.find_snapshot(session.id, &query.b).await?;
    let (before, mut unreadable) = read(context, owner, &a).await?;
    let (after, more) = read(context, owner, &b).await?;
    unreadable.extend(more);
    let diff = compare(&before, &after);
    Ok(DiffView { a: snapshot(&a), b: snapshot(&b), diff, unreadable })
}

/// The state of the latest snapshot. Secret values are replaced by markers unless `reveal`; parts
/// that cannot be read are named and cost nothing else.
pub async fn state(
    context: &Runtime,
    session: &Session,
    reveal: bool,
) -> Result<StateView, RuntimeError> {
    let (owner, name) = (&session.owner, session.name.clone());
    let Some(found) = latest(&context.store, session.id).await? else {
        return Err(RuntimeError::NoSnapshot { name, expected: "a snapshot" });
    };
    let Latest { snapshot, damaged, .. } = found;
    let mut unreadable: Vec<String> = damaged.iter().map(one_line).collect();
    let (state, damaged) = read(context, owner, &snapshot).await?;
    unreadable.extend(damaged);
    let shown = move || serde_json::to_value(&if reveal { state } else { redact::redact(&state) });
    let state = blocking(shown).await?;
    let state = state.map_err(|source| RuntimeError::NotShown { name, source })?;
    let (snapshot, taken_at) = (snapshot.id, snapshot.taken_at);
    Ok(StateView { snapshot, taken_at, redacted: !reveal, state, unreadable })
}

/// What a snapshot holds, and which of its parts cannot be read.
pub(super) async fn read(
    context: &Runtime,
    owner: &Owner,
    snapshot: &Snapshot,
) -> Result<(State, Vec<String>), RuntimeError> {
    let wanted: Vec<PartRef> =
        snapshot.parts.iter().filter(|part| !part.kind.is_picture()).cloned().collect();
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    for part in context.store.fetch_parts(owner, &wanted).await? {
        match part {
            Ok(part) => found.push(part),
            Err(error) => unreadable.push(one_line(&error)),
        }
    }
    let (state, invalid) = blocking(move || parts::join(&found)).await?;
    unreadable.extend(invalid.iter().map(ToString::to_string));
    Ok((state, unreadable))
}

/// What could not be read when a snapshot was taken. A note that is damaged says nothing.
pub(super) async fn unread(
    context: &Runtime,
    owner: &Owner,
    snapshot: &Snapshot,
) -> Result<Vec<Unread>, RuntimeError> {
    let notes = snapshot.parts.iter().filter(|part| part.kind == PartKind::Unread);
    let found = context.store.fetch_parts(owner, &notes.cloned().collect::<Vec<_>>()).await?;
    Ok(Unread::of(found.iter().filter_map(|part| part.as_ref().ok())))
}

fn one_line(error: &StoreError) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// The preview of the latest snapshot, a PNG.
pub async fn preview(
    context: &Runtime,
    owner: &Owner,
    reference: &str,
) -> Result<Vec<u8>, RuntimeError> {
    let session = context.find(owner, reference).await?;
    let found = latest(&context.store, session.id).await?;
    let part = found
        .iter()
        .flat_map(|found| &found.snapshot.parts)
        .find(|part| part.kind == PartKind::Preview);
    match part {
        Some(part) => Ok(context.store.fetch_part(owner, part).await?.bytes),
        None => Err(RuntimeError::NoSnapshot { name: session.name, expected: "a preview" }),
    }
}

/// The icon of the latest snapshot, a PNG.
pub async fn icon(
    context: &Runtime,
    owner: &Owner,
    reference: &str,
) -> Result<Vec<u8>, RuntimeError> {
    let session = context.find(owner, reference).await?;
    let icon = match latest(&context.store, session.id).await? {
        Some(found) => icon_of(context, owner, &found.snapshot).await?,
        None => None,
    };
    let (_, png) =
        icon.ok_or(RuntimeError::NoSnapshot { name: session.name, expected: "an icon" })?;
    Ok(png)
}

/// The icon in a snapshot, and whose it is. What lies there may have come from elsewhere, so it is drawn
/// anew, and what is no icon is none.
pub async fn icon_of(
    context: &Runtime,
    owner: &Owner,
    snapshot: &Snapshot,
) -> Result<Option<(Site, Vec<u8>)>, RuntimeError> {
    let Some(part) = snapshot.parts.iter().find(|part| part.kind == PartKind::Icon) else {
        return Ok(None);
    };
    let bytes = context.store.fetch_part(owner, part).await?.bytes;
    Ok(redraw(&bytes).map(|png| (Site::of_host(&part.name), png)))
}

/// A snapshot without what it holds.
pub(super) fn snapshot(snapshot: &Snapshot) -> SnapshotView {
    SnapshotView {
        id: snapshot.id,
        taken_at: snapshot.taken_at,
        reason: snapshot.reason,
        parts: snapshot.parts.len(),
        bytes: snapshot.bytes,
        shrunk: snapshot.shrunk,
        sibling: snapshot.sibling,
        saved: snapshot.saved,
        damaged: 0,
        unread: Vec::new(),
    }
}
