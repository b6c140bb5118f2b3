//! The client at the other end of standard output: it is written to, and asked.

use super::message::Outcome;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::timeout;

/// How many messages wait for a client that reads slowly.
const WAITING: usize = 64;
/// How many bytes they may have together.
const WAITING_BYTES: usize = 32 << 20;
/// How long a client may take to read what is left when it leaves.
const END_LIMIT: Duration = Duration::from_secs(5);
/// How long a client may take to answer a question of ours: a person may have to.
const ANSWER_LIMIT: Duration = Duration::from_secs(110);

/// Writes messages, whole ones in turn. Cheap to clone.
#[derive(Clone)]
pub(super) struct ClientWriter(Arc<ClientState>);

struct ClientState {
    lines: mpsc::Sender<Line>,
    room: Arc<Semaphore>,
    ended: Mutex<Option<oneshot::Receiver<()>>>,
    /// Questions that the client has not answered.
    asked: Mutex<HashMap<String, oneshot::Sender<Outcome>>>,
    next: AtomicU64,
}

/// A message, and the room that it takes until it is written.
struct Line {
    text: String,
    _room: OwnedSemaphorePermit,
}

/// A question, until its answer is there or its asker has left.
struct Question<'client> {
    client: &'client ClientState,
    id: String,
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        if self.client.asked().remove(&self.id).is_some() {
            self.client.mention("notifications/cancelled", &json!({"requestId": self.id}));
        }
    }
}

impl ClientWriter {
    pub(super) fn start_writer(output: impl Write + Send + 'static) -> Self {
        let (lines, waiting) = mpsc::channel(WAITING);
        let (ending, ended) = oneshot::channel();
        std::thread::spawn(move || {
            write(output, waiting);
            // The task that waits for the end may have given up.
            let _ = ending.send(());
        });
        let ended = Mutex::new(Some(ended));
        let room = Arc::new(Semaphore::new(WAITING_BYTES));
        let (asked, next) = (Mutex::default(), AtomicU64::new(1));
        Self(Arc::new(ClientState { lines, room, ended, asked, next }))
    }

    /// Sends a message; to a client that has left, nothing is sent.
    pub(super) async fn send(&self, message: Value) {
        self.send_line(message.to_string()).await;
    }

    /// Sends a message that is written already, on one line.
    pub(super) async fn send_line(&self, text: String) {
        let bytes = u32::try_from(text.len().min(WAITING_BYTES)).unwrap_or(u32::MAX);
        let Ok(room) = Arc::clone(&self.0.room).acquire_many_owned(bytes).await else { return };
        let _ = self.0.lines.send(Line { text, _room: room }).await;
    }

    /// Mentions something, unless the client is far behind with its reading.
    pub(super) fn mention(&self, method: &str, params: &Value) {
        self.0.mention(method, params);
    }

    /// Whether the client reads no more.
    pub(super) fn has_left(&self) -> bool {
        self.0.lines.is_closed()
    }

    /// Asks the client something; none when it does not answer, or answers with an error.
    pub(super) async fn ask(&self, method: &str, params: Value) -> Option<Value> {
        let params = (!params.is_null()).then_some(params);
        self.request(method, params, ANSWER_LIMIT).await?.ok()
    }

    /// Asks the client something; none when it does not answer in time, which it hears.
    pub(super) async fn request(
        &self,
        method: &str,
        params: Option<impl Serialize>,
        limit: Duration,
    ) -> Option<Outcome> {
        let id = format!("baton-{}", self.0.next.fetch_add(1, Ordering::Relaxed));
        let (tell, told) = oneshot::channel();
        self.0.asked().insert(id.clone(), tell);
        let question = Question { client: &self.0, id };
        let asked = WrittenQuestion { jsonrpc: "2.0", id: &question.id, method, params };
        self.send_line(serde_json::to_string(&asked).ok()?).await;
        timeout(limit, told).await.ok()?.ok()
    }

    /// The client has answered a question.
    pub(super) fn answered(&self, id: &Value, outcome: Outcome) {
        let waiting = id.as_str().and_then(|id| self.0.asked().remove(id));
        if let Some(tell) = waiting {
            // The asker may have given up.
            let _ = tell.send(outcome);
        }
    }

    /// Writes what is left, for as long as the client reads it.
    pub(super) async fn end(self) {
        let ended = self.0.ended.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(self);
        if let Some(ended) = ended {
            // A client that does not read any more misses the rest.
            let _ = timeout(END_LIMIT, ended).await;
        }
    }
}

impl ClientState {
    fn mention(&self, method: &str, params: &Value) {
        let text = json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string();
        let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
        if let Ok(room) = Arc::clone(&self.room).try_acquire_many_owned(bytes) {
            // A client that is far behind, or has left, misses it.
            let _ = self.lines.try_send(Line { text, _room: room });
        }
    }

    fn asked(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<Outcome>>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question as it is written.
#[derive(Serialize)]
struct WrittenQuestion<'asked, P> {
    jsonrpc: &'static str,
    id: &'asked str,
    method: &'asked str,
    /// Some clients do not read a message in which these are null.
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<P>,
}

fn write(mut output: impl Write, mut waiting: mpsc::Receiver<Line>) {
    while let Some(mut line) = waiting.blocking_recv() {
        line.text.push('\n');
        if output.write_all(line.text.as_bytes()).and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}
