//! Asks a peer for the icon of a session.

use super::super::remote::Remote;
use super::super::{SyncError, peers};
use super::ICON_MAX;
use super::known::Key;
use crate::auth::Caller;
use crate::{Context, NodeError};
use baton_browser::icon::redraw;
use baton_session::SessionId;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How long a peer may take: a list of sessions does not wait for pictures.
const LIMIT: Duration = Duration::from_secs(10);

/// The icon of a session at a peer, a PNG.
///
/// A key that a peer shows is told nothing of what other peers have.
pub async fn icon(
    context: &Context,
    caller: &Caller,
    peer: &str,
    session: SessionId,
) -> Result<Vec<u8>, NodeError> {
    let peer = peers::find_confirmed(context, &caller.owner, peer).await?;
    let none = || SyncError::NoIcon { name: peer.name.clone(), session };
    if context.store.peer_of_key(&caller.owner, &caller.key).await?.is_some() {
        return Err(none().into());
    }
    let key = Key { owner: caller.owner.clone(), node: peer.node, session };
    let png = if let Some(known) = context.icons.get(&key, Instant::now()) {
        known
    } else {
        let remote = Remote::of(context, &peer).await?;
        let said = timeout(LIMIT, remote.icon(session, ICON_MAX)).await;
        let said = said.map_err(|_| SyncError::TooSlow { name: peer.name.clone() })??;
        let png = redraw(&said).map(Into::into);
        if png.is_none() && !said.is_empty() {
            tracing::warn!(peer = peer.name, %session, "a peer gave something else than an icon");
        }
        context.icons.put(key, png, Instant::now())
    };
    Ok(png.map(|png| png.to_vec()).ok_or_else(none)?)
}
