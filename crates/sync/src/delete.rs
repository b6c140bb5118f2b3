//! Deletes a session at every node.
//!
//! The one idea: what is deleted is remembered, so that no other node brings it back. Somebody who
//! went on with it meanwhile, without having heard, keeps what they have: that is a conflict.

use super::error::SyncError;
use super::save::tell_by_itself;
use super::shelf::{ATTEMPTS, Along, Shelf, author, is_race};
use super::working::row;
use crate::context::Sync;
use baton_runtime::Caller;
use baton_runtime::RuntimeError;
use baton_runtime::audit::{Action, Note};
use baton_runtime::table::Hold;
use baton_session::revision::Content;
use baton_session::{Lifecycle, Owner, SessionId};
use std::time::Duration;

const HOLD_LIMIT: Duration = Duration::from_mins(1);

/// Deletes a session here, and at its peers as soon as they hear of it.
pub async fn delete(context: &Sync, caller: &Caller, session: SessionId) -> Result<(), SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::Delete, session.to_string());
    let deleted = async {
        let hold = context.hold(session, "deleted", HOLD_LIMIT).await?;
        Shelf::expect(context, &caller.owner, session).await?;
        bury(context, &caller.owner, &hold).await
    };
    note.end(&context.store, deleted.await).await
}

/// Writes down that a session is deleted, if it is shared, and removes it here.
pub(crate) async fn bury(context: &Sync, owner: &Owner, hold: &Hold) -> Result<(), SyncError> {
    let session = hold.id();
    if let Some(row) = row(context, owner, session).await?
        && row.lifecycle == Lifecycle::Active
    {
        let (name, found) = (row.name, row.lifecycle);
        return Err(RuntimeError::WrongState {
            name,
            expected: "closed or abandoned first",
            found,
        }
        .into());
    }
    for _ in 0..ATTEMPTS {
        let mut shelf = Shelf::take(context, owner, session).await?;
        let Some(current) = shelf.shared.replica.current() else { return Ok(()) };
        if current.deleted && shelf.shared.replica.siblings().is_empty() {
            return Ok(());
        }
        let says = Content::deleted(current.name.clone(), current.origin.clone());
        let before = shelf.whole();
        shelf.shared.replica.delete(says, &author(context));
        shelf.shared.base = None;
        let released = shelf.released(&before);
        // The files first: when the node dies in between, the session is still there to be deleted.
        let forget = Some(context.hub.delete_files(hold).await?);
        let along = Along { released, forget, ..Along::default() };
        match shelf.put_back(context, along).await {
            Err(error) if is_race(&error) => {}
            put => {
                put?;
                tracing::info!(%session, "deleted a shared session");
                tell_by_itself(context, owner, session);
                return Ok(());
            }
        }
    }
    Err(SyncError::Contended { session })
}
