//! Asks a peer for the icon of a session.

use super::super::error::SyncError;
use super::super::peers;
use super::super::remote::Remote;
use super::ICON_MAX;
use super::known::{Key, Said};
use crate::context::Sync;
use baton_browser::icon::redraw;
use baton_runtime::Caller;
use baton_session::SessionId;
use baton_store::Peer;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How long a peer may take: a list of sessions does not wait for pictures.
const LIMIT: Duration = Duration::from_secs(10);

/// The icon of a session at a peer, a PNG.
///
/// A key that a peer shows is told nothing of what other peers have.
pub async fn icon(
    context: &Sync,
    caller: &Caller,
    peer: &str,
    session: SessionId,
) -> Result<Vec<u8>, SyncError> {
    let peer = peers::find_confirmed(context, &caller.owner, peer).await?;
    let none = || SyncError::NoIcon { name: peer.name.clone(), session };
    if context.store.peer_of_key(&caller.owner, &caller.key).await?.is_some() {
        return Err(none());
    }
    let known = context.own.icons.get(&Key::of(&peer, session), Instant::now());
    let said = match known {
        Some(known) => known,
        None => ask(context, &peer, session).await?,
    };
    match said {
        Said::Icon(png) => Ok(png.to_vec()),
        Said::None => Err(none()),
        Said::Failed(why) => {
            let (name, why) = (peer.name, why.to_string());
            Err(SyncError::NotAskedYet { name, why })
        }
    }
}

/// Asks the peer, and remembers what it says or that it does not.
async fn ask(context: &Sync, peer: &Peer, session: SessionId) -> Result<Said, SyncError> {
    let remote = Remote::of(context, peer).await?;
    let answer = timeout(LIMIT, remote.icon(session, ICON_MAX)).await;
    let too_slow = || SyncError::TooSlow { name: peer.name.clone() };
    let answer = answer.unwrap_or_else(|_| Err(too_slow()));
    let key = Key::of(peer, session);
    let bytes = match answer {
        Ok(bytes) => bytes,
        Err(error) => {
            let why = error.to_string().lines().next().unwrap_or_default().into();
            let key = if is_of_all(&error) { key.any() } else { key };
            context.own.icons.put(key, Said::Failed(why), Instant::now());
            return Err(error);
        }
    };
    let png = redraw(&bytes);
    if png.is_none() && !bytes.is_empty() {
        tracing::warn!(peer = peer.name, %session, "a peer gave something else than an icon");
    }
    let said = png.map_or(Said::None, |png| Said::Icon(png.into()));
    context.own.icons.put(key, said.clone(), Instant::now());
    Ok(said)
}

/// Whether a peer that fails like this would do so whatever it is asked for.
fn is_of_all(error: &SyncError) -> bool {
    matches!(error, SyncError::Unreachable { .. } | SyncError::TooSlow { .. })
}
