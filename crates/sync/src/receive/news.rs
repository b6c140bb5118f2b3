//! What webhooks are told of an arrival: how the session stands now, beside how it stood before.

use super::row;
use crate::context::Sync;
use crate::error::SyncError;
use crate::shelf::Shelf;
use crate::webhooks::{Event, News};
use crate::working::current;
use baton_session::{NodeId, Owner, RevisionId, Session, SessionId, Signed};
use std::collections::BTreeSet;

/// How a session stands here.
pub(super) struct Standing {
    row: Option<Session>,
    current: Option<RevisionId>,
    siblings: BTreeSet<RevisionId>,
}

impl Standing {
    pub(super) async fn of(context: &Sync, shelf: &Shelf) -> Result<Self, SyncError> {
        let replica = &shelf.shared.replica;
        Ok(Self {
            row: row(context, &shelf.owner, replica.session()).await?,
            current: current(context, shelf).map(Signed::id),
            siblings: replica.siblings().iter().map(|sibling| sibling.id()).collect(),
        })
    }

    /// What happened since `before`. Of one that is gone nothing is told.
    fn since(&self, before: &Self) -> Vec<Event> {
        let mut events = Vec::new();
        if before.row.is_none() {
            events.push(Event::New);
        } else if self.current != before.current {
            events.push(Event::Changed);
        }
        if !self.siblings.is_subset(&before.siblings) {
            events.push(Event::Conflict);
        }
        events
    }
}

/// Tells webhooks what came from the node `from`. It is stored already, so whatever goes wrong here
/// fails nothing.
pub(super) async fn tell(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    before: &Standing,
    from: NodeId,
) {
    if from == context.node || !context.own.webhooks.are_for(owner) {
        return;
    }
    if let Err(error) = tell_of(context, owner, session, before, from).await {
        tracing::warn!(%session, %error, "webhooks were not told what came");
    }
}

async fn tell_of(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    before: &Standing,
    from: NodeId,
) -> Result<(), SyncError> {
    let shelf = Shelf::take(context, owner, session).await?;
    let now = Standing::of(context, &shelf).await?;
    let events = now.since(before);
    let Some(row) = now.row else { return Ok(()) };
    for event in events {
        let (name, rev, node) = (row.name.clone(), now.current, context.node);
        context.own.webhooks.tell(owner, &News { event, session, name, rev, node, from });
    }
    Ok(())
}
