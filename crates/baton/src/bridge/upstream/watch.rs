//! What the node's tools did, as far as it says which session the other server works on.

use super::Upstream;
use crate::bridge::message::{Incoming, Outcome};
use crate::bridge::node::SESSION;
use serde_json::Value;
use std::sync::Arc;

/// The tools after which a session is the one that is meant.
const CHOOSING: [&str; 3] = ["session_open", "session_resume", "session_rollback"];
/// The tools after which one may be gone.
const ENDING: [&str; 2] = ["session_close", "session_abandon"];

impl Upstream {
    /// A tool of ours was called, with this outcome.
    pub(in crate::bridge) fn watch(self: &Arc<Self>, request: &Incoming, outcome: &Outcome) {
        let name = request.params.get("name").and_then(Value::as_str).unwrap_or_default();
        let chooses = CHOOSING.contains(&name);
        if !chooses && !ENDING.contains(&name) {
            return;
        }
        // Also one that failed may have done something.
        self.session.doubt();
        let Ok(result) = outcome else { return };
        let content = &result["structuredContent"];
        let id = content["sessionId"].as_str().filter(|_| result["isError"] != true);
        if let Some(id) = id {
            self.session.ended(id);
            if chooses {
                self.session.choose(id);
                self.start_soon();
            }
        } else if chooses
            && content["code"] == "wrong_state"
            && let Some(reference) = named(request)
        {
            // One that is active already is meant all the same.
            self.session.choose(reference);
        }
    }

    /// There is a browser now: a server that did not want to run without one may want to.
    fn start_soon(self: &Arc<Self>) {
        let was_asked_for = self.state().introduction.is_some();
        if was_asked_for && !self.running().is_some_and(|server| server.lives()) {
            let upstream = Arc::clone(self);
            tokio::spawn(async move {
                // Why it did not start was said already.
                let _ = upstream.server().await;
            });
        }
    }
}

/// The session that a call names.
fn named(request: &Incoming) -> Option<&str> {
    let arguments = request.params.get("arguments")?;
    SESSION.iter().find_map(|key| arguments.get(key)?.as_str())
}
