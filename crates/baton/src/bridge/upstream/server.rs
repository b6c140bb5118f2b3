//! The other server while it runs: introduced, asked, listened to, and its tools as it lists them.
//!
//! One task reads what it says, only as fast as the client reads what is passed on to it.

use super::calls::{Call, CallFailure, CallState, Calls, NotBegun, Questions, Request};
use super::process::{AddressSecret, Patience, Process, ProcessOutput, say};
use crate::bridge::client::ClientWriter;
use crate::bridge::message::{Asker, Envelope, Incoming, understood};
use baton_session::json;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::time::{timeout, timeout_at};

/// How long it may take to answer what it answers at once.
const SETTLE_LIMIT: Duration = Duration::from_secs(2);

/// How long it may take to answer what we ask for ourselves.
const OWN_LIMIT: Duration = Duration::from_mins(2);

const AGAIN: &str = "call it again: the server is started anew";

/// How the client is introduced to the server.
#[derive(Debug, Clone)]
pub(in crate::bridge) struct Introduction {
    /// Its name and version.
    pub(in crate::bridge) info: Value,
    /// What it can do.
    pub(in crate::bridge) capabilities: Value,
    /// The version of the protocol.
    pub(in crate::bridge) version: String,
    /// Whether it answers questions.
    pub(in crate::bridge) can_ask: bool,
}

/// A server that runs, or did.
pub(super) struct Server {
    name: String,
    limit: Duration,
    ready: AtomicBool,
    calls: Calls,
    questions: Questions,
    client: ClientWriter,
    /// Closed when it is to end.
    input: Mutex<Option<mpsc::Sender<String>>>,
    process: Mutex<Option<Process>>,
    /// Its list of tools has changed, or it has ended.
    pub(super) changed: Notify,
}

impl Server {
    /// Starts it; a call may then be silent for so long.
    pub(super) fn start(
        name: &str,
        command: &[String],
        environment: &BTreeMap<String, String>,
        secret: AddressSecret,
        client: ClientWriter,
        limit: Duration,
        can_ask: bool,
    ) -> Result<Arc<Self>, String> {
        let started = Process::start(name, command, environment, secret);
        let (process, input, output) =
            started.map_err(|error| format!("could not start {name}: {error}"))?;
        let server = Arc::new(Self {
            name: name.to_owned(),
            limit,
            ready: AtomicBool::new(false),
            calls: Calls::default(),
            questions: Questions::new(client.clone(), can_ask),
            client,
            input: Mutex::new(Some(input)),
            process: Mutex::new(Some(process)),
            changed: Notify::new(),
        });
        tokio::spawn(Arc::clone(&server).listen(output));
        Ok(server)
    }

    /// What it is called.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it can be called.
    pub(super) fn lives(&self) -> bool {
        self.ready.load(Ordering::Acquire) && !self.calls.have_ended()
    }

    /// It can be called from now on.
    pub(super) fn be_ready(&self) {
        self.ready.store(true, Ordering::Release);
    }

    /// Shakes hands.
    pub(super) async fn introduce(&self, client: &Introduction) -> Result<(), String> {
        let Introduction { info, capabilities, version, .. } = client;
        let params = json!({
            "protocolVersion": version, "capabilities": capabilities, "clientInfo": info,
        });
        self.request("initialize", &params).await?;
        self.tell("notifications/initialized", &json!({}));
        Ok(())
    }

    /// Asks it something for ourselves.
    pub(super) async fn request(&self, method: &str, params: &Value) -> Result<String, String> {
        let mut call = self.start_call(None, None).map_err(|failed| failed.detail().to_owned())?;
        self.write(&call, method, params).await;
        match self.wait(&mut call, OWN_LIMIT).await {
            Ok(Some(Ok(result))) => Ok(result),
            Ok(Some(Err(error))) => Err(format!("{} refused {method}: {error}", self.name)),
            Ok(None) => Err(format!("{} did not answer {method}", self.name)),
            Err(failed) => Err(failed.detail().to_owned()),
        }
    }

    /// Passes on a call of the client's. The answer goes to the client by itself.
    pub(super) async fn call(&self, request: &Incoming) -> Result<(), CallFailure> {
        let token = request.params.get("_meta").and_then(|meta| meta.get("progressToken"));
        let mut call = self.start_call(Some(request.asker()), token.cloned())?;
        self.write(&call, &request.method, &request.raw).await;
        self.wait(&mut call, self.limit).await.map(drop)
    }

    /// Waits until it has dealt with what happened before: what comes in at several places has no order, but
    /// a server that answers a ping is not in the middle of something.
    pub(super) async fn settle(&self) {
        // One that does not know pings refuses them, which is as good.
        let _ = timeout(SETTLE_LIMIT, self.request("ping", &json!({}))).await;
    }

    /// Says how much it is to log. One that does not know of that refuses, which is as good.
    pub(super) async fn log(&self, level: &str) {
        let params = json!({"level": level});
        let _ = timeout(SETTLE_LIMIT, self.request("logging/setLevel", &params)).await;
    }

    /// Mentions something to it, unless it is far behind with its reading.
    pub(super) fn tell(&self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        if let Some(input) = self.input() {
            let _ = input.try_send(message.to_string());
        }
    }

    /// Cuts off what is under way.
    pub(super) fn cut(&self, why: &str) {
        self.calls.end(why);
    }

    /// Ends it, with everything that it started.
    pub(super) async fn end(&self, why: &str, patience: Patience) {
        self.calls.end(why);
        self.changed.notify_one();
        self.input.lock().unwrap_or_else(PoisonError::into_inner).take();
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(process) = process {
            process.end(patience).await;
        }
    }

    fn start_call(
        &self,
        asker: Option<Asker>,
        token: Option<Value>,
    ) -> Result<Call<'_>, CallFailure> {
        let ended = |why: String| CallFailure::new("server_ended", why, AGAIN);
        let input = self.input().ok_or_else(|| ended(format!("{} has ended", self.name)))?;
        self.calls.create(asker, token, &input).map_err(|refused| match refused {
            NotBegun::Ended(why) => ended(why),
            NotBegun::Full => {
                let found = format!("{} is busy with as many calls as it may have", self.name);
                CallFailure::new("busy", found, "wait for the answers of the others")
            }
        })
    }

    async fn write(&self, call: &Call<'_>, method: &str, params: impl Serialize) {
        let request = Request { jsonrpc: "2.0", id: call.id, method, params };
        let line = json::text(&request);
        if let Some(input) = self.input() {
            // One that reads nothing any more is found out by its silence. One that has ended has
            // ended the call.
            let _ = timeout(self.limit, input.send(line)).await;
        }
    }

    /// Waits for the answer, as long as the server is not silent for too long.
    async fn wait(
        &self,
        call: &mut Call<'_>,
        limit: Duration,
    ) -> Result<Option<Result<String, String>>, CallFailure> {
        loop {
            let state = call.state.borrow_and_update().clone();
            let since = match state {
                CallState::Answered(ours) => return Ok(ours),
                CallState::Ended(why) => return Err(CallFailure::new("server_ended", why, AGAIN)),
                CallState::Waits(since) => since,
            };
            if timeout_at(since + limit, call.state.changed()).await.is_err() {
                let found = format!(
                    "expected {} to answer or to tell progress within {} s, found that it was silent",
                    self.name,
                    limit.as_secs()
                );
                let next = "look at the page, it may have done it all the same; or call it again";
                return Err(CallFailure::new("timed_out", found, next));
            }
        }
    }

    /// Reads what it says until it ends, which ends its calls.
    async fn listen(self: Arc<Self>, mut output: ProcessOutput) {
        let why = loop {
            match output.next().await {
                Ok(Some(line)) => self.handle_line(&line).await,
                Ok(None) => break format!("{} ended", self.name),
                Err(error) => break format!("{} could not be understood: {error}", self.name),
            }
        };
        self.end(&format!("{why} before it had answered"), Patience::Long).await;
    }

    async fn handle_line(&self, line: &[u8]) {
        // A server that prints something else to its output does not know better.
        let Ok(Some(message)) = Envelope::read(line) else { return };
        match (message.method, message.id) {
            (None, Some(id)) => self.answered(&id, message.result, message.error).await,
            (Some(Value::String(method)), Some(id)) => {
                if let Some(input) = self.input() {
                    self.questions.ask(id, method, message.params, input);
                }
            }
            (Some(Value::String(method)), None) => {
                self.notify(&method, message.params.as_deref()).await;
            }
            _ => {}
        }
    }

    async fn answered(
        &self,
        id: &Value,
        result: Option<Box<RawValue>>,
        error: Option<Box<RawValue>>,
    ) {
        let Some(mut call) = self.calls.remove(id) else { return };
        let outcome = match (&result, &error) {
            (Some(result), _) => Ok(&**result),
            (None, Some(error)) => Err(&**error),
            (None, None) => Ok(RawValue::NULL),
        };
        let Some(asker) = call.asker.take() else { return call.answered(Some(outcome)) };
        self.client.send_line(asker.line(outcome)).await;
        call.answered(None);
    }

    async fn notify(&self, method: &str, params: Option<&RawValue>) {
        let passes = match method {
            "notifications/progress" => {
                let token = params
                    .map(understood)
                    .and_then(|mut it| Some(it.get_mut("progressToken")?.take()));
                token.is_some_and(|token| self.calls.renew(&token))
            }
            "notifications/message" => true,
            "notifications/tools/list_changed" => {
                self.changed.notify_one();
                false
            }
            "notifications/cancelled" => {
                self.questions.cancel(params);
                false
            }
            // The rest is about what the bridge does not offer.
            _ => false,
        };
        if passes {
            let params = params.map_or("{}", RawValue::get);
            let line = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
            self.client.send_line(line).await;
        }
    }

    fn input(&self) -> Option<mpsc::Sender<String>> {
        self.input.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// How many tools are passed on.
const TOOLS: usize = 512;
/// How many bytes of them.
const BYTES: usize = 1 << 20;
/// How many pages a list may have.
const PAGES: usize = 64;

/// The tools of the other server.
#[derive(Debug, Default)]
pub(in crate::bridge) struct Tools(Vec<Tool>);

#[derive(Debug)]
struct Tool {
    name: String,
    only_reads: bool,
    /// As the server has written it.
    raw: Box<RawValue>,
}

/// A page of the list.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    tools: Vec<Box<RawValue>>,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// What we have to know of a tool.
#[derive(Deserialize)]
struct Known {
    name: String,
    #[serde(default)]
    annotations: Option<Annotations>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Annotations {
    #[serde(default)]
    read_only_hint: Option<bool>,
}

impl Tools {
    /// Asks the server for all of them; those that have the name of one of `ours` are left out.
    pub(super) async fn fetch(server: &Server, ours: &BTreeSet<String>) -> Result<Self, String> {
        let mut tools = Self::default();
        let (mut params, mut bytes) = (json!({}), 0);
        for _ in 0..PAGES {
            let page = server.request("tools/list", &params).await?;
            let page: Page = serde_json::from_str(&page)
                .map_err(|error| format!("expected a list of tools, found another one: {error}"))?;
            for raw in page.tools {
                bytes += raw.get().len();
                if tools.0.len() == TOOLS || bytes > BYTES {
                    let name = server.name();
                    say(format!(
                        "{name}: expected at most {TOOLS} tools of {BYTES} bytes, found more; the \
                         first {} are offered",
                        tools.0.len()
                    ));
                    return Ok(tools);
                }
                tools.add(raw, server.name(), ours);
            }
            match page.next_cursor {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => return Ok(tools),
            }
        }
        Err(format!("expected at most {PAGES} pages of tools, found more"))
    }

    fn add(&mut self, raw: Box<RawValue>, server: &str, ours: &BTreeSet<String>) {
        let known = match serde_json::from_str::<Known>(raw.get()) {
            Ok(known) => known,
            Err(error) => return say(format!("{server}: a tool is left out: {error}")),
        };
        if ours.contains(&known.name) {
            let name = known.name;
            return say(format!(
                "{server}: its tool {name} is left out: Baton has one of that name"
            ));
        }
        let only_reads = known.annotations.and_then(|hints| hints.read_only_hint) == Some(true);
        self.0.push(Tool { name: known.name, only_reads, raw });
    }

    /// As the server has written them.
    pub(in crate::bridge) fn raw(&self) -> impl Iterator<Item = &RawValue> {
        self.0.iter().map(|tool| &*tool.raw)
    }

    /// Whether it is known that a tool changes nothing.
    pub(super) fn only_reads(&self, name: &str) -> bool {
        self.0.iter().any(|tool| tool.name == name && tool.only_reads)
    }

    /// Whether a client that has the other list would see no difference.
    pub(super) fn equals(&self, other: &Self) -> bool {
        self.raw().map(RawValue::get).eq(other.raw().map(RawValue::get))
    }
}
