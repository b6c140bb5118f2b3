//! What pages are asked to tell by themselves: that somebody clicked or typed, and that a request
//! of theirs was answered.
//!
//! The one idea: a listener in our isolated world, which no page script can see, says only *that*
//! something was done, at most four times a second; never what. `Network` events would tell of
//! answers, too, and cost a page a quarter of its speed.

use crate::cdp::{CdpError, CdpSession};
use crate::frames::{self, Frame};
use serde_json::json;
use std::time::Duration;

/// How long a listener says nothing more once it has said something.
pub(super) const QUIET: Duration = Duration::from_millis(250);

/// Something that documents can be asked to tell.
#[derive(Debug)]
pub(super) struct Listener {
    /// The name under which it calls.
    pub(super) binding: &'static str,
    world: &'static str,
    /// Its body, which calls `tell`.
    script: &'static str,
}

/// Clicks and typing, for those who want a capture after them. Heard in the capture phase, so that a
/// page that stops its events does not hide them.
pub(super) const INPUT: Listener = Listener {
    binding: "batonInput",
    world: "baton input",
    script: "for (const kind of ['click', 'input', 'change', 'keydown', 'submit', 'drop']) {
        addEventListener(kind, tell, { capture: true, passive: true });
    }",
};

/// Requests of a document that have been answered, whatever for (Resource Timing, section 4.2): each
/// answer may have set cookies. Requests of dedicated workers are told to those alone. The world is
/// that of captures, which is made for each document anyway.
pub(super) const REQUESTS: Listener = Listener {
    binding: "batonRequests",
    world: "baton",
    script: "new PerformanceObserver(tell).observe({ type: 'resource', buffered: true });",
};

impl Listener {
    /// Listens in every document of a target that is there now.
    pub(super) async fn listen(&self, session: &CdpSession) {
        match frames::list(session).await {
            Ok(frames) => {
                for frame in frames {
                    self.listen_in(session, &frame).await;
                }
            }
            Err(error) => tracing::debug!(%error, self.binding, "a tab does not tell"),
        }
    }

    /// Listens in one document; where that is done already, nothing is done.
    pub(super) async fn listen_in(&self, session: &CdpSession, frame: &Frame) {
        if let Err(error) = self.try_listen(session, frame).await {
            tracing::debug!(%error, self.binding, "a document does not tell");
        }
    }

    async fn try_listen(&self, session: &CdpSession, frame: &Frame) -> Result<(), CdpError> {
        let params = json!({ "frameId": frame.id, "worldName": self.world });
        let world = session.call("Page.createIsolatedWorld", params).await?;
        let context = &world["executionContextId"];
        let params = json!({ "name": self.binding, "executionContextId": context });
        session.call("Runtime.addBinding", params).await?;
        let params = json!({ "expression": self.expression(), "contextId": context });
        session.call("Runtime.evaluate", params).await.map(drop)
    }

    /// One that is there already, of a session before this one, calls under the same name.
    fn expression(&self) -> String {
        let Self { binding, script, .. } = self;
        let quiet = QUIET.as_millis();
        format!(
            "if (!self.{binding}Listens) {{
                self.{binding}Listens = true;
                let last = -Infinity;
                const tell = () => {{
                    const now = performance.now();
                    if (now - last < {quiet}) return;
                    last = now;
                    {binding}('');
                }};
                {script}
            }}"
        )
    }
}
