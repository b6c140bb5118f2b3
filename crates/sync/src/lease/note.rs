//! Leases are written down: that of this node, and those that peers tell of.

use crate::context::Sync;
use crate::error::SyncError;
use crate::shelf::{ATTEMPTS, Along, Shelf, is_race};
use crate::working::row;
use baton_session::{Lease, Lifecycle, NodeId, Owner, Session, SessionId};
use baton_store::clock;

/// Writes down who holds a session, unless a lease is known that counts more. Returns whether it did.
pub(super) async fn record(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    lease: Lease,
) -> Result<bool, SyncError> {
    let newer = |known: Option<Lease>| {
        let counts = known.is_none_or(|known| lease.supersedes(&known));
        (counts && lease.is_plausible(known)).then_some(lease)
    };
    write(context, owner, session, newer).await
}

/// The lease of a node whose browser runs while a session becomes shared, or after it was free.
pub(crate) fn hold_if_free(shelf: &mut Shelf, node: NodeId) {
    let known = shelf.shared.lease;
    if known.is_none_or(|known| known.released) {
        shelf.shared.lease = Some(Lease::after(known, node, clock::now()));
    }
}

/// Gives back the lease of this node, if it has it.
pub(crate) async fn release(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
) -> Result<(), SyncError> {
    let given_back = |known: Option<Lease>| {
        let own = known.filter(|known| known.node == context.node && !known.released)?;
        Some(Lease { released: true, ..own })
    };
    write(context, owner, session, given_back).await?;
    Ok(())
}

/// Writes another lease down, if there is one to write. Returns whether there was.
async fn write(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    change: impl Fn(Option<Lease>) -> Option<Lease>,
) -> Result<bool, SyncError> {
    for _ in 0..ATTEMPTS {
        let mut shelf = Shelf::take(context, owner, session).await?;
        let Some(changed) = change(shelf.shared.lease).filter(|_| !shelf.is_new()) else {
            return Ok(false);
        };
        shelf.shared.lease = Some(changed);
        match shelf.put_back(context, Along::default()).await {
            Err(error) if is_race(&error) => {}
            put => return put.map(|()| true),
        }
    }
    Err(SyncError::Contended { session })
}

/// Who holds a session by this lease, if it is somebody else than the nodes of this database: among
/// those, the leases of the database count.
pub(crate) async fn holder_elsewhere(
    context: &Sync,
    lease: Option<Lease>,
) -> Result<Option<NodeId>, SyncError> {
    let Some(lease) = lease.filter(|lease| lease.is_held_by_other(context.node)) else {
        return Ok(None);
    };
    let nodes = context.store.list_nodes().await?;
    let is_here = nodes.iter().any(|found| found.node.id == lease.node);
    Ok((!is_here).then_some(lease.node))
}

/// Whether this node runs the browser of a session.
pub(super) fn runs_here(context: &Sync, row: &Session) -> bool {
    row.lifecycle == Lifecycle::Active && row.node == context.node
}

pub(super) async fn is_run_here(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
) -> Result<bool, SyncError> {
    Ok(row(context, owner, session).await?.is_some_and(|row| runs_here(context, &row)))
}
