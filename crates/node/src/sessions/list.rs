//! Lists sessions, page by page.

use super::{check, view};
use crate::{Context, NodeError};
use baton_api::{ListSessions, SessionList};
use baton_session::Owner;

/// One page of the owner's sessions, newest first.
pub async fn list(
    context: &Context,
    owner: &Owner,
    query: ListSessions,
) -> Result<SessionList, NodeError> {
    let limit = check::limit(query.limit)?;
    // One more than asked for tells whether there is another page.
    let mut found = context.store.list_sessions(owner, query.state, query.after, limit + 1).await?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next = found.last().filter(|_| more).map(|session| session.id);
    Ok(SessionList { items: found.into_iter().map(view::summary).collect(), next })
}
