//! What the browser tells of a `WebSocket`: a request of its own, and the messages that go over it.

use super::clock::Clock;
use super::format::cut;
use super::places::Place;
use super::told::{Answered, Finished, Sent, SocketMessage};
use serde::Deserialize;
use std::collections::BTreeMap;

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
    response: Response,
}

#[derive(Debug, Deserialize)]
struct Headed {
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Response {
    status: u16,
    #[serde(default)]
    status_text: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// `Network.webSocketFrameSent` and `Network.webSocketFrameReceived`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Frame {
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
    pub(super) fn told(self, url: String, place: &Place, clock: &Clock) -> Sent {
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
    pub(super) fn told(self, url: String, clock: &Clock) -> Answered {
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

impl Frame {
    /// A message.
    pub(super) fn told(self, sent: bool, clock: &Clock, most: usize) -> SocketMessage {
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
    pub(super) fn told(self, clock: &Clock) -> Finished {
        let at = clock.at(self.timestamp);
        Finished { id: self.request_id, at, ..Finished::default() }
    }
}
