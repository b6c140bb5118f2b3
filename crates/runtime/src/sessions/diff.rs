//! Compares two snapshots of a session.

use super::{state, view};
use crate::error::RuntimeError;
use crate::here::Runtime;
use baton_api::{CompareSnapshots, DiffView};
use baton_session::Owner;
use baton_session::diff::diff as compare;

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
    let (before, mut unreadable) = state::read(context, owner, &a).await?;
    let (after, more) = state::read(context, owner, &b).await?;
    unreadable.extend(more);
    let diff = compare(&before, &after);
    Ok(DiffView { a: view::snapshot(&a), b: view::snapshot(&b), diff, unreadable })
}
