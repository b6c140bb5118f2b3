//! What waits for an answer: calls of the other server, its questions to the client, and why none came.
//!
//! The one idea: a call lasts as long as its caller waits for it. When its [`Call`] is dropped, because the
//! client cancelled it or it took too long, the server hears of it, and a late answer goes nowhere. Calls and
//! questions are passed on under numbers of ours.

use crate::bridge::client::ClientWriter;
use crate::bridge::message::{Asker, error, response, understood};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// How many calls may be under way; the bridge answers more requests at once than these.
const CALLS_AT_ONCE: usize = 32;

/// How far the server is with a call.
#[derive(Debug, Clone)]
pub(super) enum CallState {
    /// It was begun, or the server spoke of it last, at that time.
    Waits(Instant),
    /// The server has answered; the answer went to the client, or is this.
    Answered(Option<Result<String, String>>),
    /// The server has ended, for this reason.
    Ended(String),
}

/// The calls under way; none can begin any more when the server has ended.
pub(super) struct Calls(Mutex<CallTable>);

struct CallTable {
    begun: u64,
    /// Why the server ended, if it did.
    ended: Option<String>,
    entries: HashMap<u64, PendingCall>,
}

/// A call under way.
pub(super) struct PendingCall {
    /// Who of the client's side waits for it; none for our own.
    pub(super) asker: Option<Asker>,
    /// What progress of it is called.
    token: Option<Value>,
    state: watch::Sender<CallState>,
}

/// A call, for the task that waits for it.
pub(super) struct Call<'calls> {
    calls: &'calls Calls,
    input: mpsc::Sender<String>,
    /// What the server calls it.
    pub(super) id: u64,
    /// How far the server is with it.
    pub(super) state: watch::Receiver<CallState>,
}

/// Why a call cannot begin.
pub(super) enum NotBegun {
    /// Too many are under way.
    Full,
    /// The server has ended, for this reason.
    Ended(String),
}

/// A request as it is written.
#[derive(Serialize)]
pub(super) struct Request<'request, P> {
    pub(super) jsonrpc: &'static str,
    pub(super) id: u64,
    pub(super) method: &'request str,
    pub(super) params: P,
}

impl Default for Calls {
    fn default() -> Self {
        Self(Mutex::new(CallTable { begun: 0, ended: None, entries: HashMap::new() }))
    }
}

impl Calls {
    /// A new call, of the client's or of our own.
    pub(super) fn create(
        &self,
        asker: Option<Asker>,
        token: Option<Value>,
        input: &mpsc::Sender<String>,
    ) -> Result<Call<'_>, NotBegun> {
        let mut inner = self.lock();
        if let Some(why) = &inner.ended {
            return Err(NotBegun::Ended(why.clone()));
        }
        if inner.entries.len() >= CALLS_AT_ONCE {
            return Err(NotBegun::Full);
        }
        inner.begun += 1;
        let id = inner.begun;
        let (sender, state) = watch::channel(CallState::Waits(Instant::now()));
        inner.entries.insert(id, PendingCall { asker, token, state: sender });
        Ok(Call { calls: self, input: input.clone(), id, state })
    }

    /// Takes the call that the server answers with this id; none when none waits for it.
    pub(super) fn remove(&self, id: &Value) -> Option<PendingCall> {
        self.lock().entries.remove(&id.as_u64()?)
    }

    /// The server speaks of the call with this token: whether anybody waits for it.
    pub(super) fn renew(&self, token: &Value) -> bool {
        let inner = self.lock();
        let entry = inner.entries.values().find(|entry| entry.token.as_ref() == Some(token));
        if let Some(entry) = entry {
            entry.state.send_replace(CallState::Waits(Instant::now()));
        }
        entry.is_some()
    }

    /// The server has ended: so has every call.
    pub(super) fn end(&self, why: &str) {
        let mut inner = self.lock();
        inner.ended.get_or_insert_with(|| why.to_owned());
        for (_, entry) in inner.entries.drain() {
            entry.state.send_replace(CallState::Ended(why.to_owned()));
        }
    }

    /// Whether the server has ended.
    pub(super) fn have_ended(&self) -> bool {
        self.lock().ended.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, CallTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingCall {
    /// The server has answered: the client has the answer, or it is this one of ours.
    pub(super) fn answered(self, ours: Option<Result<&RawValue, &RawValue>>) {
        let text = |raw: &RawValue| raw.get().to_owned();
        let ours = ours.map(|outcome| outcome.map(text).map_err(text));
        self.state.send_replace(CallState::Answered(ours));
    }
}

impl Drop for Call<'_> {
    fn drop(&mut self) {
        if self.calls.lock().entries.remove(&self.id).is_some() {
            let params = json!({"requestId": self.id});
            let told = json!({
                "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params,
            });
            // A server that reads nothing any more does not hear of it.
            let _ = self.input.try_send(told.to_string());
        }
    }
}

/// How many questions may be open at once.
const QUESTIONS_AT_ONCE: usize = 16;
/// How long the client may take: a person may have to answer.
const LIMIT: Duration = Duration::from_mins(10);

/// The questions that are open.
pub(super) struct Questions {
    client: ClientWriter,
    /// Whether the client can be asked at all.
    can_ask: bool,
    open: Mutex<HashMap<String, AbortHandle>>,
}

impl Questions {
    pub(super) fn new(client: ClientWriter, can_ask: bool) -> Self {
        Self { client, can_ask, open: Mutex::default() }
    }

    /// Passes on a question, and answers it through `input`.
    pub(super) fn ask(
        &self,
        id: Value,
        method: String,
        params: Option<Box<RawValue>>,
        input: mpsc::Sender<String>,
    ) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, task| !task.is_finished());
        let key = id.to_string();
        let at_once = match method.as_str() {
            "ping" => Some(Ok(json!({}))),
            _ if !self.can_ask => Some(Err(error(-32601, "this client cannot be asked"))),
            _ if open.len() >= QUESTIONS_AT_ONCE => {
                Some(Err(error(-32000, "too many questions are open")))
            }
            _ if open.contains_key(&key) => Some(Err(error(-32600, "this question is open"))),
            _ => None,
        };
        if let Some(outcome) = at_once {
            // A server that asks and does not read misses it.
            let _ = input.try_send(response(&id, outcome).to_string());
            return;
        }
        let client = self.client.clone();
        let task = tokio::spawn(async move {
            let answer = client.request(&method, params, LIMIT).await;
            let outcome = answer.unwrap_or_else(|| Err(error(-32000, "the client did not answer")));
            // A server that has ended needs no answer.
            let _ = input.send(response(&id, outcome).to_string()).await;
        });
        open.insert(key, task.abort_handle());
    }

    /// The server does not want to know any more; the client hears of it.
    pub(super) fn cancel(&self, params: Option<&RawValue>) {
        let id =
            params.map(understood).and_then(|params| Some(params.get("requestId")?.to_string()));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(task) = id.and_then(|id| open.remove(&id)) {
            task.abort();
        }
    }
}

impl Drop for Questions {
    fn drop(&mut self) {
        let open = self.open.get_mut().unwrap_or_else(PoisonError::into_inner);
        open.values().for_each(AbortHandle::abort);
    }
}

/// What went wrong, and what to do next.
#[derive(Debug, Clone)]
pub(super) struct CallFailure {
    /// A stable word.
    code: &'static str,
    /// What was expected, and what was found.
    detail: String,
    /// What to call next.
    next: &'static str,
}

impl CallFailure {
    pub(super) fn new(code: &'static str, detail: impl Into<String>, next: &'static str) -> Self {
        Self { code, detail: detail.into(), next }
    }

    /// What went wrong, for people.
    pub(super) fn detail(&self) -> &str {
        &self.detail
    }

    /// The result of the call, in the manner of the node's own tools.
    pub(super) fn result(&self) -> Value {
        let Self { code, detail, next } = self;
        json!({
            "content": [{"type": "text", "text": format!("{detail}\nNext: {next}")}],
            "structuredContent": {"code": code, "detail": detail, "next": next},
            "isError": true,
        })
    }
}
