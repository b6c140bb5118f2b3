//! Lists sessions, page by page.

use super::view;
use crate::{Context, NodeError};
use baton_api::{ListSessions, SessionList};
use baton_session::Owner;

/// The size of a page when none is asked for.
const DEFAULT_LIMIT: u32 = 50;
/// The largest page.
const MAX_LIMIT: u32 = 200;

/// One page of the owner's sessions, newest first.
pub async fn list(
    context: &Context,
    owner: &Owner,
    query: ListSessions,
) -> Result<SessionList, NodeError> {
    let limit = query.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        let expected = "a number from 1 to 200";
        return Err(NodeError::Invalid { field: "limit", expected, found: limit.to_string() });
    }
    // One more than asked for tells whether there is another page.
    let mut found = context.store.list_sessions(owner, query.state, query.after, limit + 1).await?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next = found.last().filter(|_| more).map(|session| session.id);
    Ok(SessionList { items: found.into_iter().map(view::summary).collect(), next })
}
