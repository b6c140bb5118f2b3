//! Lists sessions, page by page.

use super::view;
use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::page;
use baton_api::{ListSessions, SessionList, SessionSummary};
use baton_session::{Owner, Session};

/// One page of the owner's sessions, newest first.
pub async fn list(
    context: &Runtime,
    owner: &Owner,
    query: ListSessions,
) -> Result<SessionList, RuntimeError> {
    let limit = page::limit(query.limit)?;
    // One more than asked for tells whether there is another page.
    let found = context.store.list_sessions(owner, query.state, query.after, limit + 1).await?;
    let (found, next) = page::cut(found, limit, |session| session.id);
    let mut drivers = context.store.list_drivers(owner).await?;
    let item = |session: Session| SessionSummary {
        confinement: context.hub.confinement(session.id),
        agent: drivers.remove(&session.id).and_then(view::driver),
        ..view::summary(session)
    };
    Ok(SessionList { items: found.into_iter().map(item).collect(), next })
}
