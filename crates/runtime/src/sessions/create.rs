//! Makes and unmakes the row of a session whose browser is about to start.

use crate::error::RuntimeError;
use crate::here::Runtime;
use crate::life::{self, HOLD_LIMIT};
use crate::table::Hold;
use baton_session::{Lifecycle, Owner, Session, SessionId, SessionName};
use baton_store::clock;

/// What a caller says of a new session.
pub(super) struct Wanted {
    /// Unique among the owner's sessions that are not closed.
    pub(super) name: SessionName,
    /// Free text for people.
    pub(super) description: Option<String>,
    /// Whether its browser shows a window.
    pub(super) headed: bool,
    /// Whether what its tabs do is recorded.
    pub(super) debug: bool,
}

/// Makes the row of a new session, and holds that. It is active from the start: a node that dies right after this
/// finds it at its next start, and closes it because it has no snapshot.
pub(super) async fn create(
    context: &Runtime,
    owner: &Owner,
    wanted: Wanted,
) -> Result<(Session, Hold), RuntimeError> {
    let Wanted { name, description, headed, debug } = wanted;
    let now = clock::now();
    let session = Session {
        id: SessionId::new(now, rand::random()),
        name,
        description: description.unwrap_or_default(),
        owner: owner.clone(),
        node: context.node,
        headed,
        debug,
        lifecycle: Lifecycle::Active,
        created_at: now,
        updated_at: now,
    };
    let hold = context.hold(session.id, "opened", HOLD_LIMIT).await?;
    context.store.create_session(&session).await?;
    Ok((session, hold))
}

/// Removes the row and the files of a session whose browser never started. What cannot be removed
/// is logged: the caller hears why the browser did not start, which is what matters.
pub(super) async fn undo(context: &Runtime, hold: &Hold, session: &Session) {
    if let Err(error) = remove(context, hold, session).await {
        tracing::error!(session = %session.id, %error, "could not remove a session that never ran");
    }
}

/// The name goes first: whatever happens to the files, it is free.
async fn remove(context: &Runtime, hold: &Hold, session: &Session) -> Result<(), RuntimeError> {
    life::finish(context, session).await?;
    context.hub.delete_files(hold).await?;
    Ok(context.store.delete_session(&session.owner, session.id).await?)
}
