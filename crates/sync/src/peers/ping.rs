//! Asks a peer whether it answers, now.

use super::{find, status};
use crate::context::Sync;
use crate::error::SyncError;
use baton_api::sync::PeerView;
use baton_runtime::Caller;

/// The view of a peer that was asked just now.
pub async fn ping(context: &Sync, caller: &Caller, reference: &str) -> Result<PeerView, SyncError> {
    let peer = find(context, &caller.owner, reference).await?;
    Ok(status::view(context, peer, true).await)
}
