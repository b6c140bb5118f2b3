//! Notes of which sessions something that logs in is given to peers.
//!
//! The one idea: an entry for each session and movement, written before the first part leaves. A movement
//! begins when a peer asks for the revisions, or when this node pushes; one that asks for parts and for
//! nothing before them is noted as well, and again after a while.

use super::movements::movement;
use crate::context::Sync;
use crate::error::SyncError;
use baton_runtime::Actor;
use baton_runtime::audit::{Action, Note};
use baton_session::SessionId;
use baton_store::Peer;
use baton_store::clock;
use std::time::{Duration, Instant};

/// How long a movement goes on that no other one has followed.
const LONGEST: Duration = Duration::from_mins(10);
/// How many movements are remembered. One that is forgotten is noted once more.
const MOST: usize = 10_000;

/// Notes that `peer` is given something of a session that logs in, unless that is noted for this movement.
/// What cannot be noted is not given.
pub async fn given(
    context: &Sync,
    actor: &Actor,
    peer: &Peer,
    session: SessionId,
) -> Result<(), SyncError> {
    // Held until the entry is on disk, so that of two that ask at once the second one waits for it.
    let mut noted = context.own.given.noted().await;
    let movement = movement(peer, session);
    if noted.get(&movement).is_some_and(|at| at.elapsed() < LONGEST) {
        return Ok(());
    }
    let note = Note::new(actor, &peer.owner, Action::Give, session.to_string());
    let note = note.with("peer", peer.node.to_string()).with("name", peer.name.as_str());
    note.end(&context.store, Ok::<_, SyncError>(())).await?;
    if noted.len() >= MOST {
        noted.clear();
    }
    noted.insert(movement, Instant::now());
    drop(noted);
    let now = clock::now();
    Ok(context.store.touch_peer(&peer.owner, peer.node, now, Some(now)).await?)
}
