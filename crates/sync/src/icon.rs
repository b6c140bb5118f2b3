//! Icons of sessions that are elsewhere, for lists of them: given to a peer that asks, and asked for.
//!
//! The one idea: an icon moves by itself, when a person looks, and never with a revision. It says which site
//! a session shows, so a peer with a part of sessions is given the icons of that part only; and what a peer
//! says is an icon is drawn anew before it is shown.

use crate::context::Sync;
use crate::context::peers::{IconAnswer, IconKey};
use crate::error::SyncError;
use crate::peers;
use crate::remote::Remote;
use crate::shelf::Shelf;
use baton_browser::icon::redraw;
use baton_runtime::Caller;
use baton_runtime::sessions::icon_of;
use baton_session::{Owner, SessionId, StateKind, View};
use baton_store::Peer;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// The most bytes that a peer says are an icon.
const ICON_MAX: usize = 64 << 10;

/// How long a peer may take: a list of sessions does not wait for pictures.
const LIMIT: Duration = Duration::from_secs(10);

/// The icon of a session at a peer, a PNG.
///
/// A key that a peer shows gets nothing of what other peers have.
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
    let known = context.own.icons.get(&IconKey::of(&peer, session), Instant::now());
    let said = match known {
        Some(known) => known,
        None => ask(context, &peer, session).await?,
    };
    match said {
        IconAnswer::Icon(png) => Ok(png.to_vec()),
        IconAnswer::None => Err(none()),
        IconAnswer::Failed(why) => {
            let (name, why) = (peer.name, why.to_string());
            Err(SyncError::NotAskedYet { name, why })
        }
    }
}

/// Asks the peer, and remembers what it says or that it does not.
async fn ask(context: &Sync, peer: &Peer, session: SessionId) -> Result<IconAnswer, SyncError> {
    let remote = Remote::of(context, peer).await?;
    let answer = timeout(LIMIT, remote.icon(session, ICON_MAX)).await;
    let too_slow = || SyncError::TooSlow { name: peer.name.clone() };
    let answer = answer.unwrap_or_else(|_| Err(too_slow()));
    let key = IconKey::of(peer, session);
    let bytes = match answer {
        Ok(bytes) => bytes,
        Err(error) => {
            let why = error.to_string().lines().next().unwrap_or_default().into();
            let key = if error.is_unanswered() { key.any() } else { key };
            context.own.icons.insert(key, IconAnswer::Failed(why), Instant::now());
            return Err(error);
        }
    };
    let png = redraw(&bytes);
    if png.is_none() && !bytes.is_empty() {
        tracing::warn!(peer = peer.name, %session, "a peer gave something else than an icon");
    }
    let said = png.map_or(IconAnswer::None, |png| IconAnswer::Icon(png.into()));
    context.own.icons.insert(key, said.clone(), Instant::now());
    Ok(said)
}

/// The icon of what was last saved of a session, as far as its tabs are in a view; empty when there is
/// none. Of a session that was never saved, or is not there, it is empty as well.
pub async fn icon_for(
    context: &Sync,
    owner: &Owner,
    session: SessionId,
    view: &View,
) -> Result<Vec<u8>, SyncError> {
    let shelf = Shelf::load(context, owner, session).await?;
    let current = shelf.shared.replica.current().filter(|current| !current.deleted);
    let Some(current) = current else { return Ok(Vec::new()) };
    let held = context.store.fetch_content(owner, session, current.id()).await?;
    let icon = match &held {
        Some(held) => icon_of(context, owner, held).await?,
        None => None,
    };
    let seen = icon.filter(|(site, _)| view.has(Some(site), StateKind::Tabs));
    Ok(seen.map(|(_, png)| png).unwrap_or_default())
}
