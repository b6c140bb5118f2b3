//! The stagehand: the one task of a stage, which takes the events.
//!
//! It answers every paused request, for one left unanswered would hang its navigation for ever;
//! it lets new frames go on; and it tells who waits that something moved, or that it may have moved
//! without a word, because events were lost.

use crate::cdp::{CdpSessionId, Connection, Event, Events};
use crate::targets::{AttachedToTarget, Frame, FrameNavigated};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;

/// What the stage and its stagehand share.
#[derive(Debug, Default)]
pub(super) struct StageState {
    /// Bodies of documents that embed something; all others are blank.
    bodies: Mutex<HashMap<String, String>>,
    /// The scripts of service workers, by address.
    scripts: Mutex<HashMap<String, String>>,
    /// Frames in processes of their own: by session, the session above and the frame.
    frames: Mutex<HashMap<CdpSessionId, CdpSessionId>>,
    /// The last committed document of each session's main frame.
    committed: Mutex<HashMap<CdpSessionId, Frame>>,
    /// How far each session's page is with its loading.
    loads: Mutex<HashMap<CdpSessionId, Load>>,
    /// How often events were lost.
    losses: AtomicU64,
}

/// How far the loading of a page is, committed or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Load {
    /// It has begun.
    Begun,
    /// It is over: where no document was committed, there will be none.
    Over,
}

impl StageState {
    pub(super) fn bodies(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn scripts(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.scripts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn frames(&self) -> MutexGuard<'_, HashMap<CdpSessionId, CdpSessionId>> {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn committed(&self) -> MutexGuard<'_, HashMap<CdpSessionId, Frame>> {
        self.committed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn loads(&self) -> MutexGuard<'_, HashMap<CdpSessionId, Load>> {
        self.loads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often events were lost: while this stays the same, what no event told did not happen.
    pub(super) fn losses(&self) -> u64 {
        self.losses.load(Ordering::Acquire)
    }
}

/// The beginning of every document of ours. The browser forgets it as soon as it is left (`onunload`),
/// and remembers no element as the anchor of its place: of an anchor it would look for the like of it in
/// the site's own page, and move one that reads from right to left to the side at each return
/// (`ScrollAnchor::RestoreAnchor` in Blink's `scroll_anchor.cc`).
const BLANK_DOCUMENT: &str = "<!doctype html><html style='overflow-anchor: none'>\
    <meta charset=utf-8><title></title><body onunload>";

/// The task behind the stage.
pub(super) struct Stagehand {
    pub(super) connection: Connection,
    pub(super) shared: Arc<StageState>,
    pub(super) sender: watch::Sender<u64>,
}

impl Stagehand {
    /// Runs until the connection ends.
    pub(super) async fn run(self, mut events: Events) {
        while let Some(event) = events.next().await {
            let (session, method, params) = match event {
                Event::Message { session, method, params } => (session, method, params),
                Event::Overflow { dropped } => {
                    tracing::warn!(dropped, "events of a restore were lost: what waits asks again");
                    self.shared.losses.fetch_add(1, Ordering::AcqRel);
                    self.moved();
                    continue;
                }
            };
            match method.as_str() {
                "Fetch.requestPaused" => self.answer(session, &params),
                "Target.attachedToTarget" => self.attached(session, &params),
                "Page.frameNavigated" => self.navigated(session, &params),
                "Page.frameStartedLoading" => self.began(session),
                "Page.frameStoppedLoading" => self.stopped(session),
                _ => {}
            }
        }
    }

    /// Every request gets an answer: a blank document, a script of a service worker, or "not found"
    /// for anything else.
    fn answer(&self, session: Option<CdpSessionId>, params: &RawValue) {
        let target = match session {
            Some(id) => self.connection.session(id),
            None => self.connection.browser(),
        };
        let Ok(paused) = serde_json::from_str::<RequestPaused>(params.get()) else {
            tracing::warn!("a paused request was not understood: it fails");
            if let Ok(PausedRequestId { request_id }) = serde_json::from_str(params.get()) {
                let params = json!({ "requestId": request_id, "errorReason": "Failed" });
                target.post("Fetch.failRequest", params);
            }
            return;
        };
        if paused.resource_type != "Document" {
            let script = self.shared.scripts().get(&paused.request.url).cloned();
            return target.post("Fetch.fulfillRequest", not_a_document(&paused.request_id, script));
        }
        let inside = self.shared.bodies().get(&paused.request.url).cloned().unwrap_or_default();
        let body = format!("{BLANK_DOCUMENT}{inside}");
        target.post(
            "Fetch.fulfillRequest",
            json!({
                "requestId": paused.request_id,
                "responseCode": 200,
                "responseHeaders": [
                    { "name": "Content-Type", "value": "text/html; charset=utf-8" },
                    { "name": "Cache-Control", "value": "no-store" },
                ],
                "body": STANDARD.encode(body),
            }),
        );
    }

    /// A frame in another process starts paused, so that it too is filled without service worker.
    fn attached(&self, parent: Option<CdpSessionId>, params: &RawValue) {
        let Ok(attached) = serde_json::from_str::<AttachedToTarget>(params.get()) else {
            return;
        };
        let session = self.connection.session(attached.session_id.clone());
        let script = &attached.target_info.url;
        if attached.target_info.kind != "service_worker" {
            if let Some(parent) = parent {
                self.shared.frames().insert(attached.session_id, parent);
            }
        } else if self.shared.scripts().contains_key(script) {
            session.post("Runtime.evaluate", json!({ "expression": NOT_AGAIN }));
        }
        if matches!(attached.target_info.kind.as_str(), "iframe" | "page") {
            session.post("Page.enable", json!({}));
            session.post("Network.enable", json!({ "maxTotalBufferSize": 0 }));
            session.post("Network.setBypassServiceWorker", json!({ "bypass": true }));
            session.post("Target.setAutoAttach", auto_attach());
        }
        session.post("Runtime.runIfWaitingForDebugger", json!({}));
        self.moved();
    }

    fn navigated(&self, session: Option<CdpSessionId>, params: &RawValue) {
        let Ok(FrameNavigated { frame }) = serde_json::from_str(params.get()) else {
            return;
        };
        if let Some(session) = session.filter(|_| frame.parent_id.is_none()) {
            self.shared.committed().insert(session, frame);
        }
        self.moved();
    }

    fn began(&self, session: Option<CdpSessionId>) {
        if let Some(session) = session {
            self.shared.loads().insert(session, Load::Begun);
        }
    }

    /// The end of a loading whose beginning was not waited for says nothing.
    fn stopped(&self, session: Option<CdpSessionId>) {
        let mut loads = self.shared.loads();
        if let Some(load) = session.and_then(|session| loads.get_mut(&session)) {
            *load = Load::Over;
        }
        drop(loads);
        self.moved();
    }

    fn moved(&self) {
        self.sender.send_modify(|count| *count += 1);
    }
}

/// Frames in other processes start paused, so that they are made ready before they load. Service
/// workers are seen to from above.
pub(super) fn auto_attach() -> Value {
    let mut kinds: Vec<_> = ["service_worker", "browser", "tab"]
        .iter()
        .map(|kind| json!({ "type": kind, "exclude": true }))
        .collect();
    kinds.push(json!({}));
    json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": kinds })
}

/// Service workers start paused, so that they are made ready before their script runs.
pub(super) fn attach_to_workers() -> Value {
    let filter = json!([{ "type": "service_worker" }, { "exclude": true }]);
    json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": filter })
}

/// The browser tells of no more frames and workers, and lets go of those of which it told.
pub(super) fn let_go() -> Value {
    json!({ "autoAttach": false, "waitForDebuggerOnStart": false, "flatten": true })
}

/// Runs in a worker before its own script. A worker that comes back was installed before: what its
/// site has it do once, when it is new, is not done again, where no request has an answer.
const NOT_AGAIN: &str = "for (const kind of ['install', 'activate']) {
    addEventListener(kind, (event) => event.stopImmediatePropagation());
}";

/// The answer to a request for anything but a document.
fn not_a_document(request: &str, script: Option<String>) -> Value {
    let Some(script) = script else {
        return json!({ "requestId": request, "responseCode": 404 });
    };
    json!({
        "requestId": request,
        "responseCode": 200,
        "responseHeaders": [
            { "name": "Content-Type", "value": "text/javascript; charset=utf-8" },
            { "name": "Service-Worker-Allowed", "value": "/" },
        ],
        "body": STANDARD.encode(script),
    })
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestPaused {
    request_id: String,
    resource_type: String,
    request: PausedRequest,
}

/// What is read of a paused request of which nothing else is understood.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PausedRequestId {
    request_id: String,
}

#[derive(Deserialize)]
struct PausedRequest {
    url: String,
}
