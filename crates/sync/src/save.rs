//! Saves a session: what it holds now becomes a revision.

use crate::context::Sync;
use crate::error::SyncError;
use crate::movement::{CALL_LIMIT, push};
use crate::publish::{Published, Titles, WantedBy, publish_whole};
use baton_api::sync::{Movement, NotPushed, SaveSession, SavedView};
use baton_runtime::audit::{Action, Note};
use baton_runtime::latest::last_good;
use baton_runtime::sessions::check;
use baton_runtime::{Caller, RuntimeError};
use baton_session::{Lifecycle, Owner, Session, SessionId, SnapshotReason};
use baton_store::Peer;
use futures_util::{StreamExt as _, stream};

/// To how many peers a session is pushed at once.
const PUSHED_AT_ONCE: usize = 8;

/// Saves a session as it is now: an active one is captured first. The revision is on disk when this
/// returns; then it goes to peers, if that was asked for or is set.
pub async fn save(
    context: &Sync,
    caller: &Caller,
    reference: &str,
    request: SaveSession,
) -> Result<SavedView, SyncError> {
    let note = Note::new(&caller.actor, &caller.owner, Action::Save, reference);
    let sync = request.sync_to_peers || context.own.settings.auto_sync;
    let saved = save_here(context, caller, reference, request).await;
    let note = match &saved {
        Ok(view) => {
            let note = note.about(view.id.to_string()).with("rev", view.rev.to_string());
            note.with_losses(&view.left_out)
        }
        Err(_) => note,
    };
    let mut view = note.end(&context.store, saved).await?;
    if sync {
        push_to_all(context, caller, &mut view).await?;
    }
    Ok(view)
}

async fn save_here(
    context: &Sync,
    caller: &Caller,
    reference: &str,
    request: SaveSession,
) -> Result<SavedView, SyncError> {
    let SaveSession { name, description, .. } = request;
    if let Some(name) = &name {
        check::name(name)?;
    }
    check::description(description.as_deref())?;
    let (mut session, _hold) = context.hold_here(&caller.owner, reference).await?;
    if session.lifecycle == Lifecycle::Active {
        context.supervisor.capture(session.id, SnapshotReason::Request).await?;
    }
    // Nothing is renamed for a save that finds nothing.
    if last_good(&context.store, session.id).await?.is_none() {
        return Err(RuntimeError::NoSnapshot { name: session.name, expected: "a snapshot" }.into());
    }
    let titles = Titles { name, description };
    if titles.name.is_some() || titles.description.is_some() {
        session = rename(context, &session, &titles).await?;
    }
    let Published { saved, snapshot, asides } =
        Box::pin(publish_whole(context, &session, &titles, WantedBy::Saved)).await?;
    tracing::info!(session = %session.id, rev = %saved.revision.id(), "saved a session");
    Ok(SavedView {
        id: session.id,
        name: session.name,
        rev: saved.revision.id(),
        version: saved.revision.version,
        checksum: saved.revision.checksum,
        snapshot,
        unchanged: saved.unchanged,
        conflicts: saved.conflicts,
        pushed: Vec::new(),
        failed: Vec::new(),
        left_out: asides,
    })
}

async fn rename(context: &Sync, session: &Session, titles: &Titles) -> Result<Session, SyncError> {
    let name = titles.name.as_ref().unwrap_or(&session.name);
    let description = titles.description.as_ref().unwrap_or(&session.description);
    let now = baton_store::clock::now();
    Ok(context.store.rename_session(session.id, name, description, now).await?)
}

/// Tells peers by itself what became of a session that was deleted or resolved, where the settings say that
/// what is saved goes to them. No caller waits for that; a peer that does not hear it now does by the next
/// exchange.
pub(super) fn tell_by_itself(context: &Sync, owner: &Owner, session: SessionId) {
    if !context.own.settings.auto_sync {
        return;
    }
    let (context, caller) = (context.clone(), Caller::node(owner.clone()));
    context.clone().tasks.spawn(async move {
        let peers = match super::peers::confirmed(&context, &caller.owner).await {
            Ok(peers) => peers,
            Err(error) => return tracing::warn!(%session, %error, "no peer is told of a session"),
        };
        let session = session.to_string();
        for pushed in push_to(&context, &caller, peers, &session).await {
            if let Err(NotPushed { peer, reason }) = pushed {
                tracing::warn!(session, peer, reason, "a peer was not told of a session");
            }
        }
    });
}

/// Pushes to these peers at once, in their order.
async fn push_to(
    context: &Sync,
    caller: &Caller,
    peers: Vec<Peer>,
    session: &str,
) -> Vec<Result<Movement, NotPushed>> {
    let pushed = stream::iter(peers).map(|peer| async move {
        let node = peer.node.to_string();
        let pushed = Box::pin(push(context, caller, &node, session, CALL_LIMIT)).await;
        pushed.map_err(|error| NotPushed { peer: peer.name, reason: error.to_string() })
    });
    pushed.buffered(PUSHED_AT_ONCE).collect().await
}

/// Pushes to every confirmed peer that has an address. One that does not take it does not keep the
/// others from it.
async fn push_to_all(
    context: &Sync,
    caller: &Caller,
    view: &mut SavedView,
) -> Result<(), SyncError> {
    let peers = super::peers::confirmed(context, &caller.owner).await?;
    for pushed in push_to(context, caller, peers, &view.id.to_string()).await {
        match pushed {
            Ok(movement) => view.pushed.push(movement),
            Err(failed) => view.failed.push(failed),
        }
    }
    Ok(())
}
