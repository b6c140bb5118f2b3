//! The loop of a recorder: each event of the browser becomes a record of a tab.
//!
//! It never waits for the browser: whatever takes a call, a new target or a body, is done in a task of its
//! own. It waits for the reader of the records; the browser's events wait meanwhile, within bounds.

use super::console::{Called, LogEntryAdded, Thrown};
use super::network::{
    Closed, Created, FrameError, Handshake, LoadingFailed, LoadingFinished, Received, Shaken,
    SocketFrame, WillBeSent,
};
use super::places::{RecordedPlace, RecordedPlaces};
use super::{BELOW, Clock, Failed, Finished, Record, RecordLimits, What, attaching, network};
use crate::cdp::{CdpSession, CdpSessionId, Connection, Event, Events};
use crate::record;
use crate::targets::{AttachedToTarget, Contexts, DetachedFromTarget, TargetId};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

/// How many bodies are fetched at once.
const BODIES: usize = 16;
/// How many requests, and how many connections of `WebSocket`, that have not ended are remembered.
const OPEN: usize = 10_000;
/// How much of bodies a page's process keeps for us, in bytes, and of one of them.
const KEPT: usize = 64 << 20;
const KEPT_OF_ONE: usize = 8 << 20;

/// The browser's id of a request, which counts in its session only.
type RequestKey = (CdpSessionId, String);

/// What the loop works with.
pub(super) struct RecordPump {
    connection: Connection,
    contexts: Contexts,
    records: mpsc::Sender<Record>,
    limits: RecordLimits,
    clock: Arc<Clock>,
    places: RecordedPlaces,
    /// Requests that have not ended.
    open: HashMap<RequestKey, OpenRequest>,
    /// Where each WebSocket leads.
    sockets: HashMap<RequestKey, String>,
    bodies: Arc<Semaphore>,
    /// Ends the tasks that the loop starts.
    end: CancellationToken,
}

/// A request that has not ended, and what is to come of it.
#[derive(Debug, Clone, Default)]
struct OpenRequest {
    /// It asks for no body (`HEAD`).
    asks_for_none: bool,
    /// The answer has begun, and has no body.
    is_empty: bool,
    /// It has begun, and its body may be text: what the answer says that it is.
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetInfoChanged {
    target_info: Shown,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    target_id: TargetId,
    #[serde(default)]
    url: String,
    #[serde(default)]
    title: String,
}

impl RecordPump {
    pub(super) fn new(
        connection: Connection,
        contexts: Contexts,
        records: mpsc::Sender<Record>,
        limits: RecordLimits,
        end: CancellationToken,
    ) -> Self {
        Self {
            connection,
            contexts,
            records,
            limits,
            clock: Arc::default(),
            places: RecordedPlaces::default(),
            open: HashMap::new(),
            sockets: HashMap::new(),
            bodies: Arc::new(Semaphore::new(BODIES)),
            end,
        }
    }

    /// Runs until the connection ends or the reader has left.
    pub(super) async fn run(mut self, mut events: Events) {
        while let Some(event) = events.next().await {
            match event {
                Event::Message { session, method, params } => {
                    self.handle_event(session.as_ref(), &method, &params).await;
                }
                Event::Overflow { dropped } => self.missed(dropped).await,
            }
            if self.records.is_closed() {
                return;
            }
        }
    }

    async fn handle_event(
        &mut self,
        session: Option<&CdpSessionId>,
        method: &str,
        params: &RawValue,
    ) {
        match method {
            "Target.attachedToTarget" => self.attached(session, params).await,
            "Target.detachedFromTarget" => self.detached(params).await,
            "Target.targetInfoChanged" => self.shown(params).await,
            "Page.domContentEventFired" | "Page.loadEventFired" => self.ask_title(session),
            _ => {
                let Some(session) = session else { return };
                if let Some(record) = self.read(session, method, params) {
                    self.tell(record).await;
                }
            }
        }
    }

    /// Listens to a target that was attached, and lets it go on.
    async fn attached(&mut self, parent: Option<&CdpSessionId>, params: &RawValue) {
        let Some(AttachedToTarget { session_id, target_info, waiting_for_debugger }) =
            parse(params)
        else {
            return;
        };
        let session = self.connection.session(session_id.clone());
        let is_ours = self.contexts.keep(&target_info);
        let place =
            if is_ours { self.places.attached(&session_id, parent, &target_info) } else { None };
        if let Some(place) = &place {
            listen(&session, place, self.limits);
        }
        session.post("Runtime.runIfWaitingForDebugger", json!({}));
        if let Some(RecordedPlace::Tab(tab)) = place {
            let late = !waiting_for_debugger;
            self.tell(Record { tab: tab.clone(), what: What::Begun { late } }).await;
            let (url, title) = (target_info.url, String::new());
            self.tell(Record { tab: tab.clone(), what: What::Shown { url, title } }).await;
            self.tell_when_ready(session, tab);
        }
    }

    /// Says when the tab listens: the browser answers in the order in which it is asked.
    fn tell_when_ready(&self, session: CdpSession, tab: TargetId) {
        self.ask_title(session.id());
        let records = self.records.clone();
        let ready = async move {
            // Of a tab that does not answer we tell what the browser tells.
            let _ = session.call("Page.enable", json!({})).await;
            let _ = session.call("Runtime.enable", json!({})).await;
            // The reader may have left.
            let _ = records.send(Record { tab, what: What::Ready }).await;
        };
        tokio::spawn(self.end.clone().run_until_cancelled_owned(ready));
    }

    async fn detached(&mut self, params: &RawValue) {
        let Some(DetachedFromTarget { session_id }) = parse(params) else { return };
        self.open.retain(|(session, _), _| *session != session_id);
        self.sockets.retain(|(session, _), _| *session != session_id);
        if let Some(tab) = self.places.detached(&session_id) {
            self.tell(Record { tab, what: What::Gone }).await;
        }
    }

    async fn shown(&mut self, params: &RawValue) {
        let Some(TargetInfoChanged { target_info }) = parse(params) else { return };
        let Shown { target_id: tab, url, title } = target_info;
        if self.places.is_known(&tab) {
            self.places.shows(&tab, &url);
            self.tell(Record { tab, what: What::Shown { url, title } }).await;
        }
    }

    /// Asks what a tab is called now: the browser tells by itself of addresses only.
    fn ask_title(&self, session: Option<&CdpSessionId>) {
        let Some((tab, RecordedPlace::Tab(_))) = session.and_then(|id| self.places.find(id)) else {
            return;
        };
        let (browser, records) = (self.connection.browser(), self.records.clone());
        let ask = async move {
            let params = json!({ "targetId": tab });
            let Ok(answer) = browser.call("Target.getTargetInfo", params).await else { return };
            let Ok(Shown { url, title, .. }) = Shown::deserialize(&answer["targetInfo"]) else {
                return;
            };
            // The reader may have left.
            let _ = records.send(Record { tab, what: What::Shown { url, title } }).await;
        };
        tokio::spawn(self.end.clone().run_until_cancelled_owned(ask));
    }

    async fn missed(&mut self, events: u64) {
        // The end of a request may be among them, and the browser does not tell it again.
        self.open.clear();
        let tabs: Vec<TargetId> = self.places.tabs().cloned().collect();
        for tab in tabs {
            self.tell(Record { tab, what: What::Missed { events } }).await;
        }
    }

    async fn tell(&self, record: Record) {
        // The reader may have left; then the loop ends.
        let _ = self.records.send(record).await;
    }
}

/// Switches on what the browser tells of a target, in the order in which it tells it.
fn listen(session: &CdpSession, place: &RecordedPlace, limits: RecordLimits) {
    let network = json!({
        "maxTotalBufferSize": KEPT, "maxResourceBufferSize": KEPT_OF_ONE,
        "maxPostDataSize": limits.body_bytes,
    });
    session.post("Network.enable", network);
    session.post("Runtime.enable", json!({}));
    session.post("Log.enable", json!({}));
    if matches!(place, RecordedPlace::Tab(_)) {
        session.post("Page.enable", json!({}));
    }
    session.post("Target.setAutoAttach", attaching(&BELOW));
}

/// What an event says; none when it is not as we know it.
fn parse<'a, T: Deserialize<'a>>(params: &'a RawValue) -> Option<T> {
    serde_json::from_str(params.get()).ok()
}

impl RecordPump {
    /// What an event of a target says; none when it says nothing that we tell, or not yet.
    fn read(&mut self, id: &CdpSessionId, method: &str, params: &RawValue) -> Option<Record> {
        let (tab, place) = self.places.find(id)?;
        let (clock, body, line) = (&self.clock, self.limits.body_bytes, self.limits.line_bytes);
        let key = |request: &str| (id.clone(), request.to_owned());
        let what = match method {
            "Network.requestWillBeSent" => {
                let sent = parse::<WillBeSent>(params)?.into_sent(place, clock, body);
                if let Some(open) = noted(&mut self.open, key(&sent.id)) {
                    *open = OpenRequest {
                        asks_for_none: sent.method == "HEAD",
                        ..OpenRequest::default()
                    };
                }
                What::Sent(Box::new(sent))
            }
            "Network.responseReceived" => {
                let received: Received = parse(params)?;
                // A request that was sent before we listened is known by its answer.
                if let Some(open) = noted(&mut self.open, key(&received.request_id)) {
                    open.is_empty = open.asks_for_none || received.is_empty();
                    open.text = received.text().filter(|_| !open.is_empty);
                }
                What::Answered(Box::new(received.into_answered(clock)))
            }
            "Network.loadingFinished" => return self.finished(tab, id, parse(params)?),
            "Network.loadingFailed" => {
                let failed: LoadingFailed = parse(params)?;
                let open = self.open.remove(&key(&failed.request_id)).unwrap_or_default();
                failed.into_end(clock, open.is_empty)
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
                What::Sent(Box::new(sent.into_sent(url, place, clock)))
            }
            "Network.webSocketHandshakeResponseReceived" => {
                let shaken: Shaken = parse(params)?;
                let url = self.sockets.get(&key(&shaken.request_id))?.clone();
                What::Answered(Box::new(shaken.into_answered(url, clock)))
            }
            "Network.webSocketFrameSent" => {
                What::Message(parse::<SocketFrame>(params)?.into_message(true, clock, body))
            }
            "Network.webSocketFrameReceived" => {
                What::Message(parse::<SocketFrame>(params)?.into_message(false, clock, body))
            }
            "Network.webSocketFrameError" => {
                let FrameError { request_id, timestamp, error_message } = parse(params)?;
                self.sockets.remove(&key(&request_id));
                let (at, error) = (clock.at(timestamp), error_message);
                What::Failed(Failed { id: request_id, at, error, ..Failed::default() })
            }
            "Network.webSocketClosed" => {
                let closed = parse::<Closed>(params)?.into_finished(clock);
                self.sockets.remove(&key(&closed.id));
                What::Finished(closed)
            }
            "Runtime.consoleAPICalled" => {
                What::Line(Box::new(parse::<Called>(params)?.into_line(place, line)?))
            }
            "Runtime.exceptionThrown" => {
                What::Line(Box::new(parse::<Thrown>(params)?.into_line(place, line)))
            }
            "Log.entryAdded" => {
                What::Line(Box::new(parse::<LogEntryAdded>(params)?.into_line(place, line)?))
            }
            _ => return None,
        };
        Some(Record { tab, what })
    }

    /// An answer is complete: we tell it at once when it has no text, else with its text.
    fn finished(
        &mut self,
        tab: TargetId,
        id: &CdpSessionId,
        end: LoadingFinished,
    ) -> Option<Record> {
        let LoadingFinished { request_id, timestamp, encoded_data_length } = end;
        let (at, bytes) = (self.clock.at(timestamp), record::millis(encoded_data_length));
        let open = self.open.remove(&(id.clone(), request_id.clone())).unwrap_or_default();
        let has_text = open.text.is_some();
        let mime_type = open.text.unwrap_or_default();
        let end = Finished { id: request_id, at, bytes, mime_type, ..Finished::default() };
        // When too many bodies are being fetched already, we tell this end without its body.
        let place = has_text.then(|| Arc::clone(&self.bodies).try_acquire_owned().ok()).flatten();
        let Some(place) = place else { return Some(Record { tab, what: What::Finished(end) }) };
        let (session, records) = (self.connection.session(id.clone()), self.records.clone());
        let most = self.limits.body_bytes;
        let fetch = async move {
            let mut end = end;
            if let Some((body, is_cut)) = network::fetch_body(&session, &end.id, most).await {
                (end.body, end.body_truncated) = (Some(body), is_cut);
            }
            // The reader may have left.
            let _ = records.send(Record { tab, what: What::Finished(end) }).await;
            drop(place);
        };
        tokio::spawn(self.end.clone().run_until_cancelled_owned(fetch));
        None
    }
}

/// The note of a request that has not ended; none when there are too many.
fn noted(
    notes: &mut HashMap<RequestKey, OpenRequest>,
    key: RequestKey,
) -> Option<&mut OpenRequest> {
    let has_room = notes.len() < OPEN || notes.contains_key(&key);
    has_room.then(|| notes.entry(key).or_default())
}
