//! The board that agents share, as this node sees it.
//!
//! The one idea: the board belongs to whoever the node runs as, like the files that it is made of; so
//! only the local owner's keys reach it, and for all others there is none.

use crate::auth::Caller;
use crate::live::LiveError;
use crate::{Context, NodeError};
use baton_federation::{Done, Federation, FederationError, Operation, View};
use baton_session::{AgentName, Owner, SessionName};
use jiff::Timestamp;
use std::path::Path;

/// The board in a folder.
pub(crate) fn at(folder: &Path) -> Federation {
    Federation::at(folder, Timestamp::now, rand::random)
}

/// The board as it is now, if a session is active on it.
pub(crate) async fn read(context: &Context, caller: &Caller) -> Result<Option<View>, NodeError> {
    let board = of(context, caller)?;
    let gone_after = board.options().gone_after;
    let found = blocking(move || board.read()).await?;
    Ok(found.map(|found| View::of(found, crate::clock::now(), gone_after)))
}

/// Does an operation; it is on disk when this returns.
pub(crate) async fn write(
    context: &Context,
    caller: &Caller,
    operation: Operation,
) -> Result<Done, NodeError> {
    let board = of(context, caller)?;
    blocking(move || board.write(&operation)).await
}

/// Which agent drives which session.
pub(crate) async fn driven(
    context: &Context,
    caller: &Caller,
) -> Result<Vec<(SessionName, AgentName)>, NodeError> {
    let drivers = context.store.list_drivers(&caller.owner).await?;
    let mut driven = Vec::with_capacity(drivers.len());
    for (session, driver) in drivers {
        let session = context.store.fetch_session(&caller.owner, session).await?;
        driven.extend(driver.agent.map(|agent| (session.name, agent)));
    }
    driven.sort();
    Ok(driven)
}

fn of(context: &Context, caller: &Caller) -> Result<Federation, NodeError> {
    let board = context.board.clone().filter(|_| caller.owner == Owner::local());
    board.ok_or(NodeError::NoBoard)
}

/// It waits for a lock and for the disk.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FederationError> + Send + 'static,
) -> Result<T, NodeError> {
    let done = tokio::task::spawn_blocking(work).await.map_err(|_| LiveError::Stopping)?;
    Ok(done?)
}
