//! The client at the other end of standard output: it is written to, and asked.

use super::message::Outcome;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

/// How many messages wait for a client that reads slowly.
const WAITING: usize = 64;
/// How long a client may take to read what is left when it leaves.
const END_LIMIT: Duration = Duration::from_secs(5);
/// How long a client may take to answer a question of ours: a person may have to.
const ANSWER_LIMIT: Duration = Duration::from_secs(110);

/// Writes messages, whole ones in turn. Cheap to clone.
#[derive(Clone)]
pub(super) struct Client(Arc<Inner>);

struct Inner {
    lines: mpsc::Sender<Value>,
    ended: Mutex<Option<oneshot::Receiver<()>>>,
    /// Questions that the client has not answered.
    asked: Mutex<HashMap<String, oneshot::Sender<Outcome>>>,
    next: AtomicU64,
}

impl Client {
    pub(super) fn begin(output: impl Write + Send + 'static) -> Self {
        let (lines, waiting) = mpsc::channel(WAITING);
        let (ending, ended) = oneshot::channel();
        std::thread::spawn(move || {
            write(output, waiting);
            // Whoever waits for the end may have given up.
            let _ = ending.send(());
        });
        let ended = Mutex::new(Some(ended));
        Self(Arc::new(Inner { lines, ended, asked: Mutex::default(), next: AtomicU64::new(1) }))
    }

    /// Sends a message; to a client that has left, nothing is sent.
    pub(super) async fn send(&self, message: Value) {
        let _ = self.0.lines.send(message).await;
    }

    /// Whether nobody reads any more.
    pub(super) fn has_left(&self) -> bool {
        self.0.lines.is_closed()
    }

    /// Asks the client something; none when it does not answer, or answers with an error.
    pub(super) async fn ask(&self, method: &str, params: Value) -> Option<Value> {
        let id = format!("baton-{}", self.0.next.fetch_add(1, Ordering::Relaxed));
        let (tell, told) = oneshot::channel();
        self.asked().insert(id.clone(), tell);
        let question = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(question).await;
        let told = timeout(ANSWER_LIMIT, told).await;
        self.asked().remove(&id);
        told.ok()?.ok()?.ok()
    }

    /// The client has answered a question.
    pub(super) fn answered(&self, id: &Value, outcome: Outcome) {
        let waiting = id.as_str().and_then(|id| self.asked().remove(id));
        if let Some(tell) = waiting {
            // Whoever asked may have given up.
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

    fn asked(&self) -> MutexGuard<'_, HashMap<String, oneshot::Sender<Outcome>>> {
        self.0.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write(mut output: impl Write, mut waiting: mpsc::Receiver<Value>) {
    while let Some(message) = waiting.blocking_recv() {
        let mut line = message.to_string();
        line.push('\n');
        if output.write_all(line.as_bytes()).and_then(|()| output.flush()).is_err() {
            return;
        }
    }
}
