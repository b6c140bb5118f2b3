//! The wire to an MCP server: one JSON message a line, in both directions.
//!
//! One task reads what the server says and hands it to whoever waits for it; what the server asks is
//! answered there at once.

use super::McpError;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex as Lock, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader,
};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{Mutex, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The longest message: pictures of pages are some megabytes.
const MAX_MESSAGE: u64 = 64 << 20;
/// How many notifications are kept; the oldest go first.
const MAX_NOTIFICATIONS: usize = 10_000;
/// How many lines of stderr are kept.
const MAX_ERRORS: usize = 200;
/// How long a line of stderr may be.
const MAX_ERROR: u64 = 16 << 10;
/// How long a server may take to read an answer of ours.
const WRITE_LIMIT: Duration = Duration::from_secs(20);
/// How long stderr may take to end after stdout did.
const ERRORS_LIMIT: Duration = Duration::from_secs(2);

/// Answers what the server asks the user.
pub(super) type Elicitations = Box<dyn Fn(&Value) -> Value + Send + Sync>;

/// Both directions of the wire.
pub(super) struct Wire {
    input: Mutex<Option<ChildStdin>>,
    state: Lock<State>,
}

/// What has been said so far.
#[derive(Default)]
struct State {
    asked: u64,
    /// Whoever waits for an answer, by the number of the request; none once the server has ended.
    waiting: Option<HashMap<u64, oneshot::Sender<Value>>>,
    notifications: VecDeque<Value>,
    errors: VecDeque<String>,
    elicitations: Option<Arc<Elicitations>>,
}

impl Wire {
    /// Begins to read.
    pub(super) fn start(input: ChildStdin, output: ChildStdout, errors: ChildStderr) -> Arc<Self> {
        let state = State { waiting: Some(HashMap::new()), ..State::default() };
        let wire = Arc::new(Self { input: Mutex::new(Some(input)), state: Lock::new(state) });
        let errors = tokio::spawn(wire.clone().read_errors(errors));
        tokio::spawn(wire.clone().read(output, errors));
        wire
    }

    pub(super) fn answer_elicitations(&self, answer: Elicitations) {
        self.state().elicitations = Some(Arc::new(answer));
    }

    /// Asks, and waits for the result.
    pub(super) async fn request(&self, method: &str, params: Value) -> Result<Value> {
        let (id, answer) = self.expect_answer().context("the server has ended")?;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&message).await?;
        let mut answer = answer.await.context("the server has ended")?;
        if let Some(error) = answer.get_mut("error") {
            let message = error["message"].as_str().unwrap_or_default().to_owned();
            let code = error["code"].as_i64().unwrap_or_default();
            return Err(McpError { code, message, data: error["data"].take() }.into());
        }
        Ok(answer["result"].take())
    }

    /// Writes one message.
    pub(super) async fn send(&self, message: &Value) -> Result<()> {
        let mut input = self.input.lock().await;
        let input = input.as_mut().context("the server's input is closed")?;
        input.write_all(format!("{message}\n").as_bytes()).await?;
        Ok(input.flush().await?)
    }

    /// Closes the server's input.
    pub(super) async fn close(&self) {
        self.input.lock().await.take();
    }

    pub(super) fn notifications(&self) -> Vec<Value> {
        self.state().notifications.iter().cloned().collect()
    }

    /// What the server has written on stderr, its last lines.
    pub(super) fn errors(&self) -> String {
        self.state().errors.iter().map(String::as_str).collect()
    }

    fn expect_answer(&self) -> Option<(u64, oneshot::Receiver<Value>)> {
        let mut state = self.state();
        state.asked += 1;
        let id = state.asked;
        let (sender, receiver) = oneshot::channel();
        state.waiting.as_mut()?.insert(id, sender);
        Some((id, receiver))
    }

    async fn read(self: Arc<Self>, output: ChildStdout, errors: JoinHandle<()>) {
        let mut output = BufReader::new(output);
        while let Some(line) = read_line(&mut output, MAX_MESSAGE).await {
            match serde_json::from_str::<Value>(&line) {
                Ok(message) => self.take(message).await,
                Err(_) => self.note_error(format!("no message: {line}")),
            }
        }
        // Why it ended stands there. A grandchild may keep it open.
        let _ = timeout(ERRORS_LIMIT, errors).await;
        self.state().waiting = None;
    }

    async fn read_errors(self: Arc<Self>, errors: ChildStderr) {
        let mut errors = BufReader::new(errors);
        while let Some(line) = read_line(&mut errors, MAX_ERROR).await {
            self.note_error(line);
        }
    }

    /// An answer goes to whoever waits for it, a question is answered, and the rest is kept.
    async fn take(&self, message: Value) {
        if message.get("method").is_none() {
            let mut state = self.state();
            let waiting = state.waiting.as_mut();
            let id = message["id"].as_u64();
            if let Some(asker) = id.and_then(|id| waiting?.remove(&id)) {
                // Whoever asked may have given up.
                let _ = asker.send(message);
            }
        } else if message.get("id").is_some() {
            let answer = self.answer(&message);
            // A server that does not read its answer shows that by not going on.
            let _ = timeout(WRITE_LIMIT, self.send(&answer)).await;
        } else {
            push(&mut self.state().notifications, message, MAX_NOTIFICATIONS);
        }
    }

    /// The answer to what the server asks.
    fn answer(&self, question: &Value) -> Value {
        // Strict clients do not read a message in which it stands.
        if question.get("params").is_some_and(Value::is_null) {
            let error = json!({ "code": -32602, "message": "expected params, or none, not null" });
            return json!({ "jsonrpc": "2.0", "id": question["id"], "error": error });
        }
        let elicitations = self.state().elicitations.clone();
        let result = match (question["method"].as_str().unwrap_or_default(), elicitations) {
            ("ping", _) => Some(json!({})),
            ("roots/list", _) => Some(json!({ "roots": [] })),
            ("elicitation/create", Some(answer)) => Some(answer(&question["params"])),
            _ => None,
        };
        let mut answer = json!({ "jsonrpc": "2.0", "id": question["id"] });
        match result {
            Some(result) => answer["result"] = result,
            None => answer["error"] = json!({ "code": -32601, "message": "nobody answers this" }),
        }
        answer
    }

    fn note_error(&self, line: String) {
        push(&mut self.state().errors, line, MAX_ERRORS);
    }

    /// What has been said is whole between any two statements that change it.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The next line with its end, or none at the end; a line that is too long comes in pieces.
async fn read_line(from: &mut (impl AsyncBufRead + Unpin), limit: u64) -> Option<String> {
    let mut line = Vec::new();
    let read = from.take(limit).read_until(b'\n', &mut line).await;
    read.ok().filter(|bytes| *bytes > 0)?;
    Some(String::from_utf8_lossy(&line).into_owned())
}

fn push<T>(queue: &mut VecDeque<T>, item: T, limit: usize) {
    if queue.len() == limit {
        queue.pop_front();
    }
    queue.push_back(item);
}
