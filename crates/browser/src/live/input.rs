//! Clicks and typing: told by pages on request, for those who want a capture after them.
//!
//! The one idea: a listener in our isolated world, which no page script can see, says only *that*
//! something was done, at most four times a second; never what.

use crate::cdp::{CdpError, CdpSession};
use crate::frames::{self, Frame};
use serde_json::json;

/// The name under which the listener calls.
pub(super) const BINDING: &str = "batonInput";

/// Capture phase, so that a page that stops its events does not hide them.
const LISTEN: &str = "(() => {
    let last = -Infinity;
    const tell = () => {
        const now = performance.now();
        if (now - last < 250) return;
        last = now;
        batonInput('');
    };
    for (const kind of ['click', 'input', 'change', 'keydown', 'submit', 'drop']) {
        addEventListener(kind, tell, { capture: true, passive: true });
    }
})()";

/// Listens in every document of a target that is there now.
pub(super) async fn listen(session: &CdpSession) {
    match frames::list(session).await {
        Ok(frames) => {
            for frame in frames {
                listen_in(session, &frame).await;
            }
        }
        Err(error) => tracing::debug!(%error, "clicks and typing of a tab are not told"),
    }
}

/// Listens in one document.
pub(super) async fn listen_in(session: &CdpSession, frame: &Frame) {
    if let Err(error) = try_listen(session, frame).await {
        tracing::debug!(%error, "clicks and typing of a document are not told");
    }
}

async fn try_listen(session: &CdpSession, frame: &Frame) -> Result<(), CdpError> {
    let params = json!({ "frameId": frame.id, "worldName": "baton input" });
    let world = session.call("Page.createIsolatedWorld", params).await?;
    let context = &world["executionContextId"];
    let params = json!({ "name": BINDING, "executionContextId": context });
    session.call("Runtime.addBinding", params).await?;
    let params = json!({ "expression": LISTEN, "contextId": context });
    session.call("Runtime.evaluate", params).await.map(drop)
}
