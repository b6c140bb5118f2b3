//! How nothing more is asked of a browser's pages' sites, before it is captured for the last time.
//!
//! The one idea: a browser whose session moves is captured when nothing is on its way: what pages ask for from then on is
//! held, and what they asked before is waited for. A token that counts once is then either not spent, or its next one is
//! captured. `Network` events cost a page a part of its speed, so they are on only while a session is about to move.

use super::Live;
use super::in_flight::InFlight;
use super::messages::{RequestHeld, RequestOver, RequestSent, parse};
use super::shared::Shared;
use crate::cdp::CdpSessionId;
use futures_util::future::join_all;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::timeout;

/// How long pages may take to say anything, which they do once they have taken what they were answered: as long as a
/// capture gives them.
const WORD_LIMIT: Duration = Duration::from_secs(5);
/// How long a page may take to write down what it was answered.
const WRITTEN: Duration = Duration::from_millis(30);

/// An event of `Network` or `Fetch`.
pub(super) fn note(shared: &Shared, session: &CdpSessionId, method: &str, params: &RawValue) {
    let session = session.clone();
    match method {
        "Network.requestWillBeSent" => {
            // A stream of events is never over.
            let sent = parse(params).filter(|sent: &RequestSent| sent.kind != "EventSource");
            if let Some(RequestSent { request_id, .. }) = sent {
                shared.in_flight().sent(session, request_id, Instant::now());
            }
        }
        "Network.loadingFinished" | "Network.loadingFailed" => {
            if let Some(RequestOver { request_id }) = parse(params) {
                shared.in_flight().over(session, request_id);
            }
        }
        // It was told as sent, and is not.
        "Fetch.requestPaused" => {
            if let Some(RequestHeld { network_id: Some(request_id) }) = parse(params) {
                shared.in_flight().over(session, request_id);
            }
        }
        _ => return,
    }
    shared.answered().notify_one();
}

impl Live {
    /// From now on it is known what its pages and workers ask for, until it is held and let go.
    pub async fn hear_requests(&self) {
        self.shared().in_flight().is_heard = true;
        // No body is kept for us.
        self.tell_all(
            "Network.enable",
            json!({ "maxTotalBufferSize": 0, "maxResourceBufferSize": 0 }),
        )
        .await;
    }

    /// Holds what its pages and workers ask for from now on, and waits a moment for what they asked before. Nothing that
    /// is held goes out unless it is let go. Returns whether all of them have said something since: of one that has not
    /// it is not known what it asked for, and what it was answered it may not have written down.
    pub async fn hold_requests(&self) -> bool {
        if !self.shared().in_flight().is_heard {
            self.hear_requests().await;
        }
        // The browser as a whole holds only what pages ask for that are opened from now on.
        self.tell_all("Fetch.enable", json!({})).await;
        self.tell_browser("Fetch.enable").await;
        // What a page sent before that is known once it has said anything.
        if !self.expect_a_word().await {
            return false;
        }
        self.shared().in_flight().is_heard = false;
        self.wait_for_answers().await;
        if !self.expect_a_word().await {
            return false;
        }
        tokio::time::sleep(WRITTEN).await;
        true
    }

    /// Lets go what was held, and hears no more of what is asked for.
    pub async fn let_requests_go(&self) {
        self.tell_all("Fetch.disable", json!({})).await;
        self.tell_browser("Fetch.disable").await;
        // It is sent at once, and nobody waits for a page that hangs.
        let told = self.tell_all("Network.disable", json!({}));
        if timeout(WORD_LIMIT, told).await.is_err() {
            tracing::debug!("a page hangs, and hears later that its requests are heard no more");
        }
        *self.shared().in_flight() = InFlight::default();
    }

    async fn wait_for_answers(&self) {
        let answered: &Notify = self.shared().answered();
        loop {
            let Some(rest) = self.shared().in_flight().rest(Instant::now()) else { return };
            // What has come meanwhile was noted, and left a permit.
            let _ = timeout(rest, answered.notified()).await;
        }
    }

    /// Waits until every page and worker has answered something, after all that it did before. Returns whether they did
    /// in time. One that crashed has nothing left to say.
    pub async fn expect_a_word(&self) -> bool {
        let said = self.tell_all("Runtime.evaluate", json!({ "expression": "0" }));
        timeout(WORD_LIMIT, said).await.is_ok()
    }

    async fn tell_browser(&self, method: &'static str) {
        if let Err(error) = self.browser().call(method, json!({})).await {
            tracing::debug!(method, %error, "a browser was not told");
        }
    }

    /// Says something to every page, frame and worker that is watched. One that has left needs no word, and one that
    /// crashed has nobody who could answer.
    async fn tell_all(&self, method: &'static str, params: Value) {
        let workers = self.shared().workers().keys().cloned().collect::<Vec<_>>();
        let attached = self.shared().attached().keys().cloned().collect::<Vec<_>>();
        // The browser itself holds requests, and holds them still when a page is loaded again that crashed.
        let is_of_the_browser = method.starts_with("Fetch.");
        let is_there = |id: &CdpSessionId| is_of_the_browser || !self.shared().has_crashed(id);
        let attached = attached.into_iter().filter(is_there);
        let sessions = attached.chain(workers).map(|id| self.connection().session(id));
        let sessions: Vec<_> = sessions.collect();
        let told = sessions.iter().map(async |session| {
            if let Err(error) = session.call(method, &params).await {
                tracing::debug!(method, %error, "a page was not told");
            }
        });
        join_all(told).await;
    }
}
