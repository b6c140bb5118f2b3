//! One connection to a browser with its flat sessions: two tasks, the calls that wait, and what can go
//! wrong with one.
//!
//! The one idea: a caller owns its wait. A call that is dropped or times out takes its entry with it, and
//! when the connection or its session ends every waiting call fails at once. A call without a waiting caller
//! is sent, or the connection ends: something in the browser may wait for it.

use super::events::{Event, Events, Queue};
use super::transport::{FrameReader, FrameWriter, Transport};
use super::{CallFailure, CdpSessionId, Envelope, write_call};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How many frames wait for the writer at most.
const OUTGOING: usize = 8192;
/// The largest call, in bytes. Chromium takes 100 MiB (`kReceiveBufferSizeForDevtools` in
/// `content/browser/devtools/devtools_pipe_handler.cc`), and ends when it gets more; the rest is for
/// what a keeper adds.
const LARGEST_CALL: usize = 100 * 1024 * 1024 - 4096;

/// The code of Chromium's answer to a call on a session that is not there.
const SESSION_NOT_FOUND: i64 = -32001;

type Reply = Result<Box<RawValue>, CallFailure>;

/// A connection to a browser. Cheap to clone; it closes when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct Connection {
    outgoing: mpsc::Sender<Vec<u8>>,
    shared: Arc<ConnectionState>,
}

#[derive(Debug, Default)]
struct ConnectionState {
    next_id: AtomicU64,
    waiting: Mutex<HashMap<u64, Waiting>>,
    not_understood: AtomicU64,
    closed: CancellationToken,
}

/// A call that waits for its reply.
#[derive(Debug)]
struct Waiting {
    session: Option<CdpSessionId>,
    reply: oneshot::Sender<Reply>,
}

impl Connection {
    /// Starts to speak over `transport`. Needs a tokio runtime, on which it spawns two tasks.
    pub fn start(transport: Transport) -> (Self, Events) {
        let (reader, writer) = transport.split();
        let (outgoing, frames) = mpsc::channel(OUTGOING);
        let (queue, events) = Queue::new();
        let shared = Arc::new(ConnectionState::default());
        tokio::spawn(write(writer, frames, Arc::clone(&shared)));
        tokio::spawn(read(reader, queue, Arc::clone(&shared)));
        (Self { outgoing, shared }, events)
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.shared.closed.is_cancelled()
    }

    /// Waits until the connection has ended.
    pub async fn closed(&self) {
        self.shared.closed.cancelled().await;
    }

    /// How many messages could not be understood since the start.
    pub fn not_understood(&self) -> u64 {
        self.shared.not_understood.load(Ordering::Relaxed)
    }

    /// Sends a call and waits for its reply, without a limit of its own.
    pub(super) async fn call(
        &self,
        session: Option<&CdpSessionId>,
        method: &'static str,
        params: &str,
    ) -> Result<Box<RawValue>, CdpError> {
        let id = self.shared.next_id();
        let frame = write_call(id, session.map(CdpSessionId::as_str), method, params);
        if frame.len() > LARGEST_CALL {
            return Err(CdpError::TooLarge { method, limit: LARGEST_CALL, found: frame.len() });
        }
        let (sender, reply) = oneshot::channel();
        self.shared.waiting().insert(id, Waiting { session: session.cloned(), reply: sender });
        let _entry = WaitingEntry { id, shared: &self.shared };
        let answer = async {
            self.outgoing.send(frame).await.ok()?;
            reply.await.ok()
        };
        let reply = tokio::select! {
            biased;
            reply = answer => reply,
            () = self.closed() => None,
        };
        match reply.ok_or(CdpError::Closed { method })? {
            Ok(result) => Ok(result),
            Err(CallFailure { code, message }) => Err(CdpError::Protocol { method, code, message }),
        }
    }

    /// Sends a call whose reply is not awaited.
    pub(super) fn post(&self, session: Option<&CdpSessionId>, method: &str, params: &str) {
        let id = self.shared.next_id();
        let frame = write_call(id, session.map(CdpSessionId::as_str), method, params);
        tracing::trace!(id, method, "posted");
        self.send_now(method, frame);
    }

    /// The same, and holds the connection until the call is answered: a browser drops what it has not done yet of a
    /// client that leaves.
    fn post_to_the_end(&self, session: Option<&CdpSessionId>, method: &'static str, params: &str) {
        let Ok(runtime) = Handle::try_current() else { return self.post(session, method, params) };
        let id = self.shared.next_id();
        let frame = write_call(id, session.map(CdpSessionId::as_str), method, params);
        let (sender, reply) = oneshot::channel();
        self.shared.waiting().insert(id, Waiting { session: session.cloned(), reply: sender });
        self.send_now(method, frame);
        let connection = self.clone();
        runtime.spawn(async move {
            let _entry = WaitingEntry { id, shared: &connection.shared };
            tokio::select! {
                _ = timeout(CALL_LIMIT, reply) => {}
                () = connection.closed() => {}
            }
        });
    }

    /// Sends a frame after those that were sent before, without waiting.
    fn send_now(&self, method: &str, frame: Vec<u8>) {
        if frame.len() > LARGEST_CALL {
            return self.fail(method, "it is larger than a browser takes");
        }
        match self.outgoing.try_send(frame) {
            Err(TrySendError::Full(_)) => self.fail(method, "too many calls wait for the browser"),
            // The users of the connection hear of its end.
            Ok(()) | Err(TrySendError::Closed(_)) => {}
        }
    }

    /// Ends the connection over a call without a waiting caller that cannot be sent.
    fn fail(&self, method: &str, reason: &str) {
        if !self.is_closed() {
            tracing::error!(
                method,
                reason,
                "a call was not sent: the connection to the browser ends"
            );
            self.shared.closed.cancel();
        }
    }
}

/// Removes a waiting call when its future ends, however it ends.
struct WaitingEntry<'a> {
    id: u64,
    shared: &'a ConnectionState,
}

impl Drop for WaitingEntry<'_> {
    fn drop(&mut self) {
        self.shared.waiting().remove(&self.id);
    }
}

impl ConnectionState {
    fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn waiting(&self) -> MutexGuard<'_, HashMap<u64, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sorts one frame: a reply to who waits for it, an event into the queue.
    fn dispatch(&self, frame: &[u8], queue: &Queue) {
        match Envelope::parse(frame) {
            Ok(Envelope { id: Some(id), result, error, .. }) => self.reply(id, result, error),
            Ok(Envelope { method: Some(method), session, params, .. }) => {
                if method == "Target.detachedFromTarget" {
                    self.detached(params);
                }
                let event = Event::Message {
                    session: session.map(|id| CdpSessionId::from(id.as_ref())),
                    method: method.into_owned(),
                    params: params.map_or_else(empty, ToOwned::to_owned),
                };
                if !queue.push(event) {
                    tracing::error!("the connection to the browser ends: nobody takes its events");
                    self.closed.cancel();
                }
            }
            // An error without a number answers a frame that the browser itself could not read.
            Ok(Envelope { error, .. }) => {
                self.count(error.map_or("no id, no method", RawValue::get));
            }
            Err(error) => self.count(&error.to_string()),
        }
    }

    fn reply(&self, id: u64, result: Option<&RawValue>, error: Option<&RawValue>) {
        let reply = match error {
            Some(error) => Err(CallFailure::parse(error)),
            None => Ok(result.map_or_else(empty, ToOwned::to_owned)),
        };
        match (self.waiting().remove(&id), reply) {
            // The caller may have left meanwhile: then the reply is not missed.
            (Some(waiting), reply) => drop(waiting.reply.send(reply)),
            (None, Err(CallFailure { code, message })) => {
                tracing::debug!(id, code, message, "a call without a waiting caller failed");
            }
            (None, Ok(_)) => {}
        }
    }

    /// A session has ended: the browser never answers the calls that wait on it. They get what a call
    /// on it would get from now on.
    fn detached(&self, params: Option<&RawValue>) {
        let Some(Detached { session_id }) =
            params.and_then(|params| serde_json::from_str(params.get()).ok())
        else {
            return;
        };
        let ended = |_: &u64, waiting: &mut Waiting| waiting.session.as_ref() == Some(&session_id);
        for (_, waiting) in self.waiting().extract_if(ended) {
            let message = "Session with given id not found.".to_owned();
            let _ = waiting.reply.send(Err(CallFailure { code: SESSION_NOT_FOUND, message }));
        }
    }

    fn count(&self, found: &str) {
        self.not_understood.fetch_add(1, Ordering::Relaxed);
        tracing::warn!(found, "a message of the browser was not understood");
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detached {
    session_id: CdpSessionId,
}

fn empty() -> Box<RawValue> {
    serde_json::value::to_raw_value(&serde_json::Map::new()).unwrap_or_default()
}

async fn read(mut reader: FrameReader, queue: Arc<Queue>, shared: Arc<ConnectionState>) {
    loop {
        let frame = tokio::select! {
            frame = reader.next() => frame,
            () = shared.closed.cancelled() => break,
        };
        match frame {
            Ok(Some(frame)) => shared.dispatch(&frame, &queue),
            Ok(None) => break,
            Err(error) => {
                tracing::debug!(%error, "the connection to the browser broke");
                break;
            }
        }
    }
    shared.closed.cancel();
    queue.close();
}

async fn write(
    mut writer: FrameWriter,
    mut frames: mpsc::Receiver<Vec<u8>>,
    shared: Arc<ConnectionState>,
) {
    let sending = async {
        while let Some(frame) = frames.recv().await {
            if let Err(error) = writer.send(frame).await {
                tracing::debug!(%error, "the connection to the browser broke");
                break;
            }
        }
    };
    tokio::select! {
        () = sending => {}
        () = shared.closed.cancelled() => {}
    }
    writer.close().await;
    shared.closed.cancel();
}

/// How long [`CdpSession::call`] waits for an answer.
pub const CALL_LIMIT: Duration = Duration::from_secs(10);

/// Where calls go: one flat session of one connection. Cheap to clone.
#[derive(Debug, Clone)]
pub struct CdpSession {
    connection: Connection,
    id: Option<CdpSessionId>,
}

impl Connection {
    /// The browser itself.
    pub fn browser(&self) -> CdpSession {
        CdpSession { connection: self.clone(), id: None }
    }

    /// A target that was attached with `flatten: true`.
    pub fn session(&self, id: CdpSessionId) -> CdpSession {
        CdpSession { connection: self.clone(), id: Some(id) }
    }
}

impl CdpSession {
    /// Calls `method` and waits at most [`CALL_LIMIT`] for its result.
    pub async fn call<P: Serialize>(
        &self,
        method: &'static str,
        params: P,
    ) -> Result<Value, CdpError> {
        self.call_within(CALL_LIMIT, method, params).await
    }

    /// Calls `method` and waits at most `limit` for its result.
    pub async fn call_within<P: Serialize>(
        &self,
        limit: Duration,
        method: &'static str,
        params: P,
    ) -> Result<Value, CdpError> {
        let raw = self.call_raw(limit, method, params).await?;
        serde_json::from_str(raw.get()).map_err(|source| CdpError::Decode { method, source })
    }

    /// Calls `method` and returns its result as it came, for results that may hold lone surrogates.
    pub async fn call_raw<P: Serialize>(
        &self,
        limit: Duration,
        method: &'static str,
        params: P,
    ) -> Result<Box<RawValue>, CdpError> {
        let params =
            serde_json::to_string(&params).map_err(|source| CdpError::Encode { method, source })?;
        let call = self.connection.call(self.id.as_ref(), method, &params);
        tokio::time::timeout(limit, call).await.unwrap_or(Err(CdpError::TimedOut { method, limit }))
    }

    /// Sends a call and does not wait: an error reply is only logged, at debug level. One that cannot be
    /// sent ends the connection.
    pub fn post<P: Serialize>(&self, method: &'static str, params: P) {
        match serde_json::to_string(&params) {
            Ok(params) => self.connection.post(self.id.as_ref(), method, &params),
            Err(error) => self.connection.fail(method, &error.to_string()),
        }
    }

    /// Sends a call as [`post`](Self::post) does, and holds the connection until it is answered, for [`CALL_LIMIT`] at
    /// most: for what has to be done also where its sender leaves at once.
    pub(crate) fn post_to_the_end<P: Serialize>(&self, method: &'static str, params: P) {
        match serde_json::to_string(&params) {
            Ok(params) => self.connection.post_to_the_end(self.id.as_ref(), method, &params),
            Err(error) => self.connection.fail(method, &error.to_string()),
        }
    }

    /// The session's id; none for the browser itself.
    pub fn id(&self) -> Option<&CdpSessionId> {
        self.id.as_ref()
    }

    /// The connection that carries this session.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum CdpError {
    /// The browser answered with an error.
    #[error("{method}: the browser answered {message:?} (code {code})")]
    Protocol {
        /// The method that was called.
        method: &'static str,
        /// The JSON-RPC code, mostly −32000.
        code: i64,
        /// The browser's own words.
        message: String,
    },
    /// No answer came in time; the page may be busy or show a dialog.
    #[error("{method}: expected an answer within {limit:?}, found none")]
    TimedOut {
        /// The method that was called.
        method: &'static str,
        /// How long the call waited.
        limit: Duration,
    },
    /// The connection ended before the answer came.
    #[error("{method}: the connection to the browser is closed")]
    Closed {
        /// The method that was called.
        method: &'static str,
    },
    /// The call is larger than a browser takes: it would end at once.
    #[error("{method}: expected a call of at most {limit} bytes, found {found}")]
    TooLarge {
        /// The method that was called.
        method: &'static str,
        /// The largest call, in bytes.
        limit: usize,
        /// The bytes of this one.
        found: usize,
    },
    /// The parameters could not be written as JSON.
    #[error("{method}: expected parameters that JSON can hold, found {source}")]
    Encode {
        /// The method that was called.
        method: &'static str,
        /// What the serializer said.
        source: serde_json::Error,
    },
    /// The result is JSON, but no Rust value: it may hold a lone surrogate.
    #[error("{method}: expected a result that can be decoded, found {source}")]
    Decode {
        /// The method that was called.
        method: &'static str,
        /// What the deserializer said.
        source: serde_json::Error,
    },
}

impl CdpError {
    /// Whether the browser answered with exactly this text, which is how CDP tells errors apart.
    pub fn says(&self, text: &str) -> bool {
        matches!(self, Self::Protocol { message, .. } if message == text)
    }

    /// Whether the connection is gone, so that every later call fails as well.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed { .. })
    }

    /// Whether the browser knows no session of the name that was called.
    pub fn is_of_no_session(&self) -> bool {
        /// `crdtp::DispatchCode::SESSION_NOT_FOUND`.
        const SESSION_NOT_FOUND: i64 = -32001;
        matches!(self, Self::Protocol { code: SESSION_NOT_FOUND, .. })
    }
}
