//! Lists the snapshots of a session, page by page.

use super::view;
use crate::latest::last_good;
use crate::{Context, NodeError, page};
use baton_api::{History, ListHistory};
use baton_session::Owner;
use baton_store::StoreError;

/// One page of a session's snapshots, newest first, and which of them a resume would take.
pub async fn history(
    context: &Context,
    owner: &Owner,
    reference: &str,
    query: ListHistory,
) -> Result<History, NodeError> {
    let limit = page::limit(query.limit)?;
    let session = context.find(owner, reference).await?;
    // One more than asked for tells whether there is another page.
    let mut found = context.store.list_history(session.id, query.after, limit + 1).await?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let resumes_from = match last_good(&context.store, session.id).await {
        // None of them can be read: nothing could be taken.
        Err(StoreError::SnapshotCorrupt { .. }) => None,
        found => found?.map(|found| found.snapshot.id),
    };
    let mut shown = History { resumes_from, ..History::default() };
    for snapshot in found {
        let id = match snapshot {
            Ok(snapshot) => {
                shown.items.push(view::snapshot(&snapshot));
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
