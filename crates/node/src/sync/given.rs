//! Notes of which sessions something that logs in is given to peers.
//!
//! The one idea: an entry for each session and movement, written before the first part leaves. A movement
//! begins when a peer asks for the revisions, or when this node pushes; one that asks for parts and for
//! nothing before them is noted as well, and again after a while.

use crate::audit::{Action, Note};
use crate::clock;
use crate::runtime::Actor;
use crate::sync::context::Sync;
use crate::sync::error::SyncError;
use baton_session::{NodeId, Owner, SessionId};
use baton_store::Peer;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// How long a movement goes on that no other one has followed.
const LONGEST: Duration = Duration::from_mins(10);
/// How many movements are remembered. One that is forgotten is noted once more.
const MOST: usize = 10_000;

/// Which session goes to whom.
type Movement = (Owner, NodeId, SessionId);

/// The movements that are noted. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given(Arc<Mutex<HashMap<Movement, Instant>>>);

impl Given {
    /// A movement of a session to a peer begins: what it is given from here on is noted anew.
    pub(crate) async fn begin(&self, peer: &Peer, session: SessionId) {
        self.0.lock().await.remove(&movement(peer, session));
    }
}

fn movement(peer: &Peer, session: SessionId) -> Movement {
    (peer.owner.clone(), peer.node, session)
}

/// Notes that `peer` is given something of a session that logs in, unless that is noted for this movement.
/// What cannot be noted is not given.
pub(crate) async fn given(
    context: &Sync,
    actor: &Actor,
    peer: &Peer,
    session: SessionId,
) -> Result<(), SyncError> {
    // Held until the entry is on disk, so that of two that ask at once the second one waits for it.
    let mut noted = context.own.given.0.lock().await;
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
