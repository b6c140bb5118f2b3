//! What the pages of a browser have asked for and not been answered, and how no more is asked.
//!
//! The one idea: a browser whose session moves is captured for the last time when nothing is on its way: what pages ask
//! for from then on is held, and what they asked before is waited for. A token that counts once is then either not
//! spent, or its next one is captured. `Network` events cost a page a part of its speed, so they are on only while a
//! session is about to move.

use super::Live;
use super::messages::{RequestHeld, RequestOver, RequestSent, parse};
use super::shared::Shared;
use crate::cdp::CdpSessionId;
use futures_util::future::join_all;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio::time::timeout;

/// How long an answer is waited for, from when it was asked for: what takes longer may never come.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many requests are known to be on their way at once; more are not waited for.
const MOST: usize = 1024;
/// How long pages may take to say that they are held, or have taken what they were answered.
const TOLD_LIMIT: Duration = Duration::from_secs(1);
/// How long a page may take to write down what it was answered.
const WRITTEN: Duration = Duration::from_millis(30);

/// Requests that were sent and not answered yet.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    is_heard: bool,
    sent: HashMap<(CdpSessionId, String), Instant>,
}

impl InFlight {
    fn sent(&mut self, session: CdpSessionId, request: String, now: Instant) {
        if self.is_heard {
            self.sent.retain(|_, since| now.duration_since(*since) < PATIENCE);
            if self.sent.len() < MOST {
                self.sent.insert((session, request), now);
            }
        }
    }

    fn over(&mut self, session: CdpSessionId, request: String) {
        self.sent.remove(&(session, request));
    }

    /// All of a page, frame or worker ended with it.
    pub(super) fn left(&mut self, session: &CdpSessionId) {
        self.sent.retain(|(of, _), _| of != session);
    }

    /// For how long there is something to wait for; none when nothing is on its way.
    fn rest(&self, now: Instant) -> Option<Duration> {
        let rests =
            self.sent.values().map(|since| PATIENCE.saturating_sub(now.duration_since(*since)));
        rests.max().filter(|rest| !rest.is_zero())
    }
}

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
    /// is held goes out unless it is let go.
    pub async fn hold_requests(&self) {
        if !self.shared().in_flight().is_heard {
            self.hear_requests().await;
        }
        // The browser as a whole holds only what pages ask for that are opened from now on.
        self.tell_all("Fetch.enable", json!({})).await;
        self.tell_browser("Fetch.enable").await;
        // What a page sent before that is known once it has said anything.
        self.expect_a_word().await;
        self.shared().in_flight().is_heard = false;
        self.wait_for_answers().await;
        self.expect_a_word().await;
        tokio::time::sleep(WRITTEN).await;
    }

    /// Lets go what was held, and hears no more of what is asked for.
    pub async fn let_requests_go(&self) {
        self.tell_all("Fetch.disable", json!({})).await;
        self.tell_browser("Fetch.disable").await;
        self.tell_all("Network.disable", json!({})).await;
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

    /// Waits until every page has answered something, after all that it did before.
    async fn expect_a_word(&self) {
        let said = self.tell_all("Runtime.evaluate", json!({ "expression": "0" }));
        if timeout(TOLD_LIMIT, said).await.is_err() {
            tracing::debug!("a page hangs, and may have asked for something");
        }
    }

    async fn tell_browser(&self, method: &'static str) {
        if let Err(error) = self.browser().call(method, json!({})).await {
            tracing::debug!(method, %error, "a browser was not told");
        }
    }

    /// Says something to every page, frame and worker that is watched. One that has left needs no word.
    async fn tell_all(&self, method: &'static str, params: Value) {
        let workers = self.shared().workers().keys().cloned().collect::<Vec<_>>();
        let attached = self.shared().attached().keys().cloned().collect::<Vec<_>>();
        let sessions = attached.into_iter().chain(workers).map(|id| self.connection().session(id));
        let sessions: Vec<_> = sessions.collect();
        let told = sessions.iter().map(async |session| {
            if let Err(error) = session.call(method, &params).await {
                tracing::debug!(method, %error, "a page was not told");
            }
        });
        join_all(told).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_is_waited_for_until_it_is_answered_and_no_longer_than_that() {
        let (mut requests, now) =
            (InFlight { is_heard: true, ..InFlight::default() }, Instant::now());
        let session: CdpSessionId = "S".into();
        assert_eq!(requests.rest(now), None);
        requests.sent(session.clone(), "1".to_owned(), now);
        requests.sent(session.clone(), "2".to_owned(), now + PATIENCE / 2);
        assert_eq!(requests.rest(now + PATIENCE / 2), Some(PATIENCE));
        requests.over(session.clone(), "2".to_owned());
        assert_eq!(requests.rest(now + PATIENCE / 2), Some(PATIENCE / 2));
        assert_eq!(requests.rest(now + PATIENCE), None);
        requests.left(&session);
        assert_eq!(requests.rest(now), None);
    }

    #[test]
    fn a_page_that_asks_without_end_takes_no_more_room() {
        let mut requests = InFlight { is_heard: true, ..InFlight::default() };
        let now = Instant::now();
        for request in 0..2 * MOST {
            requests.sent("S".into(), request.to_string(), now);
        }
        assert_eq!(requests.sent.len(), MOST);
    }
}
