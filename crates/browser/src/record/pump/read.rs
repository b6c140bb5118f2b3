//! What an event of a target says, as a record of its tab.

use super::{OPEN, Open, Pump, RequestKey, parse};
use crate::cdp::CdpSessionId;
use crate::record::console::{Added, Called, Thrown};
use crate::record::network::{LoadingFailed, LoadingFinished, Received, WillBeSent};
use crate::record::socket::{Closed, Created, Frame, FrameError, Handshake, Shaken};
use crate::record::told::{Failed, Finished, Record, What};
use crate::record::{bodies, clock};
use crate::targets::TargetId;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::Arc;

impl Pump {
    /// What an event of a target says; none when it says nothing that is told, or not yet.
    pub(super) fn read(
        &mut self,
        id: &CdpSessionId,
        method: &str,
        params: &RawValue,
    ) -> Option<Record> {
        let (tab, place) = self.places.find(id)?;
        let (clock, body, line) = (&self.clock, self.limits.body_bytes, self.limits.line_bytes);
        let key = |request: &str| (id.clone(), request.to_owned());
        let what = match method {
            "Network.requestWillBeSent" => {
                let sent = parse::<WillBeSent>(params)?.told(place, clock, body);
                if let Some(open) = noted(&mut self.open, key(&sent.id)) {
                    *open = Open { asks_for_none: sent.method == "HEAD", ..Open::default() };
                }
                What::Sent(Box::new(sent))
            }
            "Network.responseReceived" => {
                let received: Received = parse(params)?;
                // One that was sent before we listened is told by its answer.
                if let Some(open) = noted(&mut self.open, key(&received.request_id)) {
                    open.is_empty = open.asks_for_none || received.is_empty();
                    open.text = received.text().filter(|_| !open.is_empty);
                }
                What::Answered(Box::new(received.told(clock)))
            }
            "Network.loadingFinished" => return self.finished(tab, id, parse(params)?),
            "Network.loadingFailed" => {
                let failed: LoadingFailed = parse(params)?;
                let open = self.open.remove(&key(&failed.request_id)).unwrap_or_default();
                failed.told(clock, open.is_empty)
            }
            "Network.webSocketCreated" => {
                let Created { request_id, url } = parse(params)?;
                if self.sockets.len() < OPEN {
                    self.sockets.insert(key(&request_id), url);
                }
                return None;
            }
            "Network.webSocketWillSendHandshakeRequest" => {
                let sent: Handshake = parse(params)?;
                let url = self.sockets.get(&key(&sent.request_id))?.clone();
                What::Sent(Box::new(sent.told(url, place, clock)))
            }
            "Network.webSocketHandshakeResponseReceived" => {
                let shaken: Shaken = parse(params)?;
                let url = self.sockets.get(&key(&shaken.request_id))?.clone();
                What::Answered(Box::new(shaken.told(url, clock)))
            }
            "Network.webSocketFrameSent" => {
                What::Message(parse::<Frame>(params)?.told(true, clock, body))
            }
            "Network.webSocketFrameReceived" => {
                What::Message(parse::<Frame>(params)?.told(false, clock, body))
            }
            "Network.webSocketFrameError" => {
                let FrameError { request_id, timestamp, error_message } = parse(params)?;
                self.sockets.remove(&key(&request_id));
                let (at, error) = (clock.at(timestamp), error_message);
                What::Failed(Failed { id: request_id, at, error, ..Failed::default() })
            }
            "Network.webSocketClosed" => {
                let closed = parse::<Closed>(params)?.told(clock);
                self.sockets.remove(&key(&closed.id));
                What::Finished(closed)
            }
            "Runtime.consoleAPICalled" => {
                What::Line(Box::new(parse::<Called>(params)?.told(place, line)?))
            }
            "Runtime.exceptionThrown" => {
                What::Line(Box::new(parse::<Thrown>(params)?.told(place, line)))
            }
            "Log.entryAdded" => What::Line(Box::new(parse::<Added>(params)?.told(place, line)?)),
            _ => return None,
        };
        Some(Record { tab, what })
    }

    /// An answer is complete: told at once when it has no text, else with its text.
    fn finished(
        &mut self,
        tab: TargetId,
        id: &CdpSessionId,
        end: LoadingFinished,
    ) -> Option<Record> {
        let LoadingFinished { request_id, timestamp, encoded_data_length } = end;
        let (at, bytes) = (self.clock.at(timestamp), clock::millis(encoded_data_length));
        let open = self.open.remove(&(id.clone(), request_id.clone())).unwrap_or_default();
        let has_text = open.text.is_some();
        let mime_type = open.text.unwrap_or_default();
        let end = Finished { id: request_id, at, bytes, mime_type, ..Finished::default() };
        // When too many are fetched already, this one's body is not told.
        let place = has_text.then(|| Arc::clone(&self.bodies).try_acquire_owned().ok()).flatten();
        let Some(place) = place else { return Some(Record { tab, what: What::Finished(end) }) };
        let (session, records) = (self.connection.session(id.clone()), self.records.clone());
        let most = self.limits.body_bytes;
        let fetch = async move {
            let mut end = end;
            if let Some((body, is_cut)) = bodies::fetch(&session, &end.id, most).await {
                (end.body, end.body_truncated) = (Some(body), is_cut);
            }
            // Whoever read the records may have left.
            let _ = records.send(Record { tab, what: What::Finished(end) }).await;
            drop(place);
        };
        tokio::spawn(self.end.clone().run_until_cancelled_owned(fetch));
        None
    }
}

/// The note of a request that has not ended; none when there are too many.
fn noted(notes: &mut HashMap<RequestKey, Open>, key: RequestKey) -> Option<&mut Open> {
    let has_room = notes.len() < OPEN || notes.contains_key(&key);
    has_room.then(|| notes.entry(key).or_default())
}
