//! What the browser tells of requests (CDP, domain `Network`), of the bodies of their answers, and of
//! each `WebSocket`.
//!
//! Bodies are asked for at once, since the browser forgets them at the next navigation. A `WebSocket`
//! is a request of its own, and the messages that go over it.

use super::console::cut;
use super::places::RecordedPlace;
use super::{Answered, Clock, Failed, Finished, Redirect, Sent, SocketMessage, What};
use crate::cdp::CdpSession;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// The browser's word for what the page gave up, and for the end of an answer without a body.
const ABORTED: &str = "net::ERR_ABORTED";

type Headers = BTreeMap<String, String>;

/// `Network.requestWillBeSent`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WillBeSent {
    pub(super) request_id: String,
    #[serde(default, rename = "documentURL")]
    document_url: String,
    request: RecordedRequest,
    timestamp: f64,
    wall_time: f64,
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    frame_id: Option<String>,
    redirect_response: Option<Response>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RecordedRequest {
    url: String,
    method: String,
    #[serde(default)]
    headers: Headers,
    post_data: Option<String>,
    #[serde(default)]
    has_post_data: bool,
}

/// `Network.responseReceived`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Received {
    pub(super) request_id: String,
    timestamp: f64,
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    response: Response,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    #[serde(default)]
    url: String,
    status: u16,
    #[serde(default)]
    status_text: String,
    #[serde(default)]
    headers: Headers,
    #[serde(default)]
    mime_type: String,
    #[serde(default)]
    from_disk_cache: bool,
    #[serde(default)]
    from_prefetch_cache: bool,
    #[serde(default)]
    from_service_worker: bool,
}

/// `Network.loadingFinished`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoadingFinished {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    #[serde(default)]
    pub(super) encoded_data_length: f64,
}

/// `Network.loadingFailed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoadingFailed {
    pub(super) request_id: String,
    timestamp: f64,
    #[serde(default)]
    error_text: String,
    #[serde(default)]
    canceled: bool,
    blocked_reason: Option<String>,
}

impl WillBeSent {
    /// A request; the clocks are set by it.
    pub(super) fn into_sent(self, place: &RecordedPlace, clock: &Clock, body_bytes: usize) -> Sent {
        clock.set(self.timestamp, self.wall_time);
        let RecordedRequest { url, method, headers, post_data, has_post_data } = self.request;
        let is_withheld = has_post_data && post_data.is_none();
        let body = post_data.map(|body| cut(body, body_bytes));
        let frame = place.frame(self.frame_id.as_deref(), &self.document_url);
        Sent {
            id: self.request_id,
            at: clock.at(self.timestamp),
            method,
            url,
            headers,
            body_truncated: is_withheld || body.as_ref().is_some_and(|(_, is_cut)| *is_cut),
            body: body.map(|(body, _)| body),
            kind: self.kind,
            frame,
            worker: place.worker(),
            redirect: self.redirect_response.map(|response| Redirect {
                status: response.status,
                status_text: response.status_text,
                headers: response.headers,
            }),
        }
    }
}

impl Received {
    /// Whether it has no body: of its status (RFC 9110, section 15), or because it says so.
    pub(super) fn is_empty(&self) -> bool {
        let says_so = |(name, value): (&String, &String)| {
            name.eq_ignore_ascii_case("content-length") && value.trim() == "0"
        };
        matches!(self.response.status, 204 | 205 | 304) || self.response.headers.iter().any(says_so)
    }

    /// What its body is, when it may be text.
    pub(super) fn text(&self) -> Option<String> {
        let is_none = matches!(self.kind.as_str(), "Image" | "Media" | "Font" | "EventSource");
        (!is_none).then(|| self.response.mime_type.clone())
    }

    pub(super) fn into_answered(self, clock: &Clock) -> Answered {
        let response = self.response;
        Answered {
            id: self.request_id,
            at: clock.at(self.timestamp),
            url: response.url,
            status: response.status,
            status_text: response.status_text,
            headers: response.headers,
            mime_type: response.mime_type,
            kind: self.kind,
            from_cache: response.from_disk_cache || response.from_prefetch_cache,
            from_service_worker: response.from_service_worker,
        }
    }
}

impl LoadingFailed {
    /// An end. An answer without a body ends in the browser's words as if the page had given it up,
    /// and is complete.
    pub(super) fn into_end(self, clock: &Clock, is_empty: bool) -> What {
        let (id, at) = (self.request_id, clock.at(self.timestamp));
        if is_empty && self.error_text == ABORTED {
            return What::Finished(Finished { id, at, ..Finished::default() });
        }
        let (error, canceled, blocked) = (self.error_text, self.canceled, self.blocked_reason);
        What::Failed(Failed { id, at, error, canceled, blocked })
    }
}

/// Frames of text (RFC 6455, section 11.8).
const TEXT: u8 = 1;
/// What CDP calls a WebSocket among the kinds of requests.
const KIND: &str = "WebSocket";

/// `Network.webSocketCreated`, which says where to, and later the handshake, which says when.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Created {
    pub(super) request_id: String,
    pub(super) url: String,
}

/// `Network.webSocketWillSendHandshakeRequest`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Handshake {
    pub(super) request_id: String,
    timestamp: f64,
    wall_time: f64,
    request: Headed,
}

/// `Network.webSocketHandshakeResponseReceived`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shaken {
    pub(super) request_id: String,
    timestamp: f64,
    response: ShakenResponse,
}

#[derive(Debug, Deserialize)]
struct Headed {
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShakenResponse {
    status: u16,
    #[serde(default)]
    status_text: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// `Network.webSocketFrameSent` and `Network.webSocketFrameReceived`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SocketFrame {
    request_id: String,
    timestamp: f64,
    response: Payload,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    opcode: f64,
    #[serde(default)]
    payload_data: String,
}

/// `Network.webSocketFrameError`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FrameError {
    pub(super) request_id: String,
    pub(super) timestamp: f64,
    #[serde(default)]
    pub(super) error_message: String,
}

/// `Network.webSocketClosed`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Closed {
    request_id: String,
    timestamp: f64,
}

impl Handshake {
    /// The request that opens it.
    pub(super) fn into_sent(self, url: String, place: &RecordedPlace, clock: &Clock) -> Sent {
        clock.set(self.timestamp, self.wall_time);
        Sent {
            id: self.request_id,
            at: clock.at(self.timestamp),
            method: "GET".to_owned(),
            url,
            headers: self.request.headers,
            kind: KIND.to_owned(),
            worker: place.worker(),
            ..Sent::default()
        }
    }
}

impl Shaken {
    /// Its answer.
    pub(super) fn into_answered(self, url: String, clock: &Clock) -> Answered {
        Answered {
            id: self.request_id,
            at: clock.at(self.timestamp),
            url,
            status: self.response.status,
            status_text: self.response.status_text,
            headers: self.response.headers,
            kind: KIND.to_owned(),
            ..Answered::default()
        }
    }
}

impl SocketFrame {
    /// A message.
    pub(super) fn into_message(self, sent: bool, clock: &Clock, most: usize) -> SocketMessage {
        let Payload { opcode, payload_data } = self.response;
        // Of binary messages the browser tells the bytes in base64.
        let is_text = (opcode - f64::from(TEXT)).abs() < f64::EPSILON;
        let length = payload_data.len() as u64;
        let bytes = if is_text { length } else { length / 4 * 3 };
        let text = is_text.then(|| cut(payload_data, most));
        SocketMessage {
            id: self.request_id,
            at: clock.at(self.timestamp),
            sent,
            bytes,
            truncated: text.as_ref().is_some_and(|(_, is_cut)| *is_cut),
            text: text.map(|(text, _)| text),
        }
    }
}

impl Closed {
    /// Its end.
    pub(super) fn into_finished(self, clock: &Clock) -> Finished {
        let at = clock.at(self.timestamp);
        Finished { id: self.request_id, at, ..Finished::default() }
    }
}

/// How long the browser may take to give a body.
const BODY_LIMIT: Duration = Duration::from_secs(5);

/// The text of a body and whether it was cut; none when it is no text, or the browser has it no more.
pub(super) async fn fetch_body(
    session: &CdpSession,
    id: &str,
    most: usize,
) -> Option<(String, bool)> {
    let params = json!({ "requestId": id });
    let mut answer =
        session.call_within(BODY_LIMIT, "Network.getResponseBody", params).await.ok()?;
    let serde_json::Value::String(body) = answer["body"].take() else { return None };
    if answer["base64Encoded"] != true {
        return Some(cut(body, most));
    }
    let text = String::from_utf8(STANDARD.decode(body).ok()?).ok()?;
    Some(cut(text, most))
}
