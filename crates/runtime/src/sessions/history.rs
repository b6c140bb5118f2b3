//! Lists the snapshots of a session, page by page.

use super::view;
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::latest::last_good;
use crate::live::LiveError;
use crate::page;
use baton_api::{History, ListHistory};
use baton_session::{Owner, PartHash, Session, SnapshotId};
use baton_store::{Snapshot, StoreError};
use std::collections::HashMap;

/// One page of a session's snapshots, newest first, and which of them a resume would take.
pub async fn history(
    context: &Runtime,
    owner: &Owner,
    reference: &str,
    query: ListHistory,
) -> Result<History, RuntimeError> {
    let limit = page::limit(query.limit)?;
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
                let mut item = view::snapshot(&snapshot);
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
        return match Box::pin(context.hub.load_last_good(session)).await {
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
    let damaged = context.hub.damaged_of(&session.owner, unknown).await?;
    known.extend(damaged.iter().map(|part| (part.hash, true)));
    Ok(snapshot.parts.iter().filter(|part| known[&part.hash]).count())
}
