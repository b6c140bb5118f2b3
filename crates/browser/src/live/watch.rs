//! What is switched on in each target, so that its changes are told.
//!
//! Auto-attach, `Page` and `DOMStorage` cost nothing that can be measured; `Network` and `Runtime`
//! would cost a quarter of a page's speed and stay off.

use super::{Activity, Attached, Shared, navigation};
use crate::cdp::{CdpError, CdpSession};
use crate::frames::{self, Frame};
use crate::targets::TargetId;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch::Sender;
use tokio::time::sleep;

/// How long a target that could not be watched is left alone.
const PAUSE: Duration = Duration::from_millis(200);

/// Asks to be attached to every page and cross-site frame below `session`, now and later.
pub(super) async fn auto_attach(session: &CdpSession) -> Result<(), CdpError> {
    let params = json!({
        "autoAttach": true,
        "waitForDebuggerOnStart": false,
        "flatten": true,
        "filter": [{ "type": "page" }, { "type": "iframe" }, { "exclude": true }],
    });
    session.call("Target.setAutoAttach", params).await.map(drop)
}

/// Switches on the events of a target that was just attached, and watches the documents in it. One
/// that hangs, say in a dialog, is asked again until it answers or leaves.
pub(super) async fn target(
    session: CdpSession,
    shared: Arc<Shared>,
    attached: Attached,
    activity: Sender<Activity>,
) {
    while let Err(error) = switch_on(&session, &shared, &attached.tab).await {
        tracing::debug!(%error, tab = %attached.tab, "a target is not watched yet");
        if error.is_closed() || !shared.is_attached(&session) {
            return;
        }
        sleep(PAUSE).await;
    }
    shared.watched(&session);
    navigation(&activity);
}

async fn switch_on(session: &CdpSession, shared: &Shared, tab: &TargetId) -> Result<(), CdpError> {
    // The browser itself answers this one: a page that hangs does not hide its frames.
    auto_attach(session).await?;
    session.call("Page.enable", json!({})).await?;
    session.call("DOMStorage.enable", json!({})).await?;
    for frame in frames::list(session).await? {
        document(session, shared, tab, &frame).await;
    }
    Ok(())
}

/// Marks the storage of a new document as unread, and watches its databases.
pub(super) async fn document(session: &CdpSession, shared: &Shared, tab: &TargetId, frame: &Frame) {
    let Ok(Some(key)) = frames::storage_key(session, &frame.id).await else {
        return;
    };
    let watched = json!({ "storageKey": key });
    if let Err(error) = session.call("Storage.trackIndexedDBForStorageKey", watched).await {
        tracing::debug!(%error, %key, "the databases of a document are not watched");
    }
    shared.mirror().dirty().mark_document(tab, &key);
}
