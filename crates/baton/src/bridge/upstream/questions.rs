//! What the other server asks the client: passed on under an id of ours, and the answer back.

use crate::bridge::client::Client;
use crate::bridge::message::{error, response, understood};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// How many questions may be open at once.
const AT_ONCE: usize = 16;
/// How long the client may take: a person may have to answer.
const LIMIT: Duration = Duration::from_mins(10);

/// The questions that are open.
pub(super) struct Questions {
    client: Client,
    /// Whether the client can be asked at all.
    can_ask: bool,
    open: Mutex<HashMap<String, AbortHandle>>,
}

impl Questions {
    pub(super) fn new(client: Client, can_ask: bool) -> Self {
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
            _ if open.len() >= AT_ONCE => Some(Err(error(-32000, "too many questions are open"))),
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

    /// The server does not want to know any more; the client is told.
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
