//! What is switched on in each target, so that its changes are told.
//!
//! Auto-attach, `Page` and `DOMStorage` cost nothing that can be measured, where no page writes without
//! end (see [`mute`](super::mute)); `Network` and `Runtime` would cost a quarter of a page's speed and
//! stay off.

use super::activity::Counters;
use super::listen;
use super::mirror::DirtyDatabases;
use super::shared::{Attached, Shared};
use crate::cdp::{CdpError, CdpSession};
use crate::frames::{self, Frame};
use crate::targets::TargetId;
use baton_session::StorageKey;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// How long a target that could not be watched is left alone.
const PAUSE: Duration = Duration::from_millis(200);

/// What we want to be attached to of all that a browser runs. Workers of one page alone see no more
/// than the page does; these outlive it.
pub(super) const OF_A_BROWSER: [&str; 4] = ["page", "iframe", "service_worker", "shared_worker"];
/// And below a page or frame.
const OF_A_PAGE: [&str; 2] = ["page", "iframe"];

/// Asks to be attached to every target of these kinds below `session`, now and later.
pub(super) async fn auto_attach(session: &CdpSession, kinds: &[&str]) -> Result<(), CdpError> {
    let mut filter: Vec<_> = kinds.iter().map(|kind| json!({ "type": kind })).collect();
    filter.push(json!({ "exclude": true }));
    let params = json!({
        "autoAttach": true,
        "waitForDebuggerOnStart": false,
        "flatten": true,
        "filter": filter,
    });
    session.call("Target.setAutoAttach", params).await.map(drop)
}

/// Watches the databases of a worker's storage key, whether or not a page shows it.
pub(super) async fn worker(session: CdpSession, shared: Arc<Shared>, activity: Counters) {
    let key = loop {
        match watch_databases(&session).await {
            Ok(Some(key)) => break key,
            Ok(None) => return,
            Err(error) => tracing::debug!(%error, "a worker is not watched yet"),
        }
        if session.connection().is_closed() || !shared.is_worker(&session) {
            return;
        }
        sleep(PAUSE).await;
    };
    shared.watched_worker(&session, key.clone());
    let mut mirror = shared.mirror();
    mirror.dirty().databases.insert(key.clone(), DirtyDatabases::All);
    mirror.dirty().stored(key).all = true;
    drop(mirror);
    activity.wrote();
}

async fn watch_databases(worker: &CdpSession) -> Result<Option<StorageKey>, CdpError> {
    let key = frames::own_storage_key(worker).await?;
    if let Some(key) = &key {
        frames::track(worker, key).await?;
    }
    Ok(key)
}

/// Switches on the events of a target that was just attached, and watches the documents in it. One
/// that hangs, say in a dialog, is asked again until it answers or leaves.
pub(super) async fn target(
    session: CdpSession,
    shared: Arc<Shared>,
    attached: Attached,
    activity: Counters,
) {
    while let Err(error) = switch_on(&session, &shared, &attached.tab).await {
        tracing::debug!(%error, tab = %attached.tab, "a target is not watched yet");
        if error.is_closed() || !shared.is_attached(&session) {
            return;
        }
        sleep(PAUSE).await;
    }
    shared.watched(&session);
    activity.navigation();
}

async fn switch_on(session: &CdpSession, shared: &Shared, tab: &TargetId) -> Result<(), CdpError> {
    // The browser itself answers this one: a page that hangs does not hide its frames.
    auto_attach(session, &OF_A_PAGE).await?;
    session.call("Page.enable", json!({})).await?;
    session.call("DOMStorage.enable", json!({})).await?;
    for frame in frames::list(session).await? {
        document(session, shared, tab, &frame).await;
    }
    Ok(())
}

/// Marks the storage of a new document as unread, and watches its databases.
pub(super) async fn document(session: &CdpSession, shared: &Shared, tab: &TargetId, frame: &Frame) {
    if shared.tells_input() {
        listen::INPUT.listen_in(session, frame).await;
    }
    let Ok(Some(key)) = frames::storage_key(session, &frame.id).await else {
        return;
    };
    if let Err(error) = frames::track(session, &key).await {
        tracing::debug!(%error, %key, "the databases of a document are not watched");
    }
    shared.mirror().dirty().mark_document(tab, &key);
    listen::REQUESTS.listen_in(session, frame).await;
}
