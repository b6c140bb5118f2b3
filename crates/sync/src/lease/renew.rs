//! Tells peers what runs here, and hears what they took over meanwhile.

use super::ask::ask_all;
use super::give::give_up;
use super::learn::learn;
use super::note::{holder_elsewhere, is_run_here, record};
use crate::context::Sync;
use crate::error::SyncError;
use crate::index;
use crate::peers;
use crate::shelf::Shelf;
use baton_runtime::Caller;
use baton_session::{Lease, Owner, SessionId};
use baton_store::clock;

/// Tells peers which sessions run here, and hears which of them were taken over meanwhile.
pub(crate) async fn renew_all(context: &Sync) -> Result<(), SyncError> {
    for owner in context.store.list_peer_owners().await? {
        let index = index::of(context, &owner).await?;
        let held = index.sessions.iter().filter(|one| one.lease.is_some() && !one.deleted);
        for session in held.map(|one| one.id) {
            if is_run_here(context, &owner, session).await?
                && let Err(error) = renew(context, &Caller::node(owner.clone()), session).await
            {
                tracing::info!(%session, %error, "peers were not told who holds a session");
            }
        }
    }
    Ok(())
}

/// Tells peers that a session still runs here, and hears whether somebody took it over meanwhile.
async fn renew(context: &Sync, caller: &Caller, session: SessionId) -> Result<(), SyncError> {
    let shelf = Shelf::take(context, &caller.owner, session).await?;
    let Some(mut lease) = shelf.shared.lease else { return Ok(()) };
    if holder_elsewhere(context, Some(lease)).await?.is_some() {
        return give_up(context, &caller.owner, session).await;
    }
    if lease.node != context.node || lease.released {
        lease = Lease::after(Some(lease), context.node, clock::now());
        record(context, &caller.owner, session, lease).await?;
    }
    let peers = peers::confirmed(context, &caller.owner).await?;
    for (peer, answer) in ask_all(context, &peers, session, lease).await {
        let told = answer.ok().and_then(|answer| answer.lease);
        learn(context, &caller.owner, session, peer.node, told).await?;
    }
    Ok(())
}

/// Asks peers whether one of them took over a session that runs here: one that cannot reach this node
/// cannot say so by itself. If so, it is saved and closed when this returns.
pub(crate) async fn hear(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
) -> Result<(), SyncError> {
    renew(context, &Caller::node(owner.clone()), session).await?;
    let lease = Shelf::take(context, owner, session).await?.shared.lease;
    if holder_elsewhere(context, lease).await?.is_some() {
        give_up(context, owner, session).await?;
    }
    Ok(())
}
