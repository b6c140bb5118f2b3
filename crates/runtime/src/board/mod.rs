//! The board that agents share, as this node sees it.
//!
//! The one idea: the board belongs to whoever the node runs as, like the files that it is made of; so
//! only the local owner's keys reach it, and for all others there is none. Rooms: `change` is what
//! callers may do with it, `driven` says which agent drives which session, `feed` hears of changes, and
//! `follow` tells them to a caller.

mod change;
mod driven;
mod follow;

pub use change::change;
pub use driven::driven;
pub use follow::{Followed, follow};

use crate::caller::Caller;
use crate::error::RuntimeError;
use crate::here::Runtime;
use baton_api::FederationView;
use baton_federation::{Done, Federation, FederationError, Operation, View};
use baton_session::{Owner, json};
use jiff::Timestamp;
use std::path::Path;

/// The board in a folder.
pub fn at(folder: &Path) -> Federation {
    Federation::at(folder, Timestamp::now, rand::random)
}

/// The board as it is now, if a session is active on it.
pub async fn read(context: &Runtime, caller: &Caller) -> Result<Option<View>, RuntimeError> {
    let board = of(context, caller)?;
    let gone_after = board.options().gone_after;
    let found = blocking(move || board.read()).await?;
    Ok(found.map(|found| View::of(found, baton_store::clock::now(), gone_after)))
}

/// The board as it is now, and who drives which session.
pub async fn show(context: &Runtime, caller: &Caller) -> Result<FederationView, RuntimeError> {
    let board = read(context, caller).await?;
    let sessions = driven(context, caller).await?.items;
    Ok(FederationView { board: board.map(|board| as_json(&board)), sessions })
}

/// Does an operation; it is on disk when this returns.
pub async fn write(
    context: &Runtime,
    caller: &Caller,
    operation: Operation,
) -> Result<Done, RuntimeError> {
    let board = of(context, caller)?;
    let done = blocking(move || board.write(&operation)).await?;
    if let Some(why) = &done.not_compacted {
        tracing::warn!(why, "the log of the board grows");
    }
    Ok(done)
}

/// Whether there is a board for this caller.
pub fn is_there(context: &Runtime, caller: &Caller) -> bool {
    of(context, caller).is_ok()
}

fn of(context: &Runtime, caller: &Caller) -> Result<Federation, RuntimeError> {
    let board = context.board.clone().filter(|_| caller.owner == Owner::local());
    board.ok_or(RuntimeError::NoBoard)
}

/// It waits for a lock and for the disk.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FederationError> + Send + 'static,
) -> Result<T, RuntimeError> {
    Ok(baton_store::blocking::blocking(work).await??)
}

/// What of the board travels as it stands in the file. It came out of JSON, so it goes into it.
fn as_json(value: &impl serde::Serialize) -> serde_json::Value {
    json::value(value)
}
