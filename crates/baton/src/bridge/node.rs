//! The node behind the bridge: found when it is needed, asked what the client asks, and listened to.
//!
//! It is asked in the newest protocol, where nothing is remembered between two requests, so a node may end
//! and another begin without the client hearing of it; answers are translated for older clients. These
//! subscribe once and hear of changes from then on, so a subscription is a stream for each: it ends with
//! its node, then the next node is asked, and the client hears that something may have changed meanwhile.

use super::client::ClientWriter;
use super::greeting::Greeting;
use super::message::{Incoming, Outcome, STATELESS, error};
use crate::local::{self, Context, is_current};
use baton_api::{Client as NodeClient, ClientError, ErrorCode, Messages, Wishes};
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

/// What answers of the newest protocol have and older ones have not.
const NEW_FIELDS: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];
/// What a tool's session is called among its arguments.
pub(super) const SESSION: [&str; 2] = ["sessionId", "session_id"];
/// How many times in a row the client is asked for the same request.
const ROUNDS: usize = 3;

/// The node of the data folder, found or started at the first request.
pub(super) struct LazyNode {
    nodes: Arc<Nodes>,
    wishes: Wishes,
    session: Option<String>,
    /// The tools that take a session.
    of_a_session: BTreeSet<String>,
}

impl LazyNode {
    pub(super) fn new(
        nodes: Arc<Nodes>,
        wishes: Wishes,
        tools: &[Value],
        session: Option<String>,
    ) -> Self {
        let takes_one = |tool: &&Value| tool.pointer("/inputSchema/properties/sessionId").is_some();
        let name = |tool: &Value| tool["name"].as_str().unwrap_or_default().to_owned();
        let of_a_session = tools.iter().filter(takes_one).map(name).collect();
        Self { nodes, wishes, session, of_a_session }
    }

    /// Whether a node runs. None is started.
    pub(super) async fn is_there(&self) -> bool {
        self.nodes.is_there().await
    }

    /// The node's answer to a request.
    pub(super) async fn answer(
        &self,
        request: &Incoming,
        greeting: &Greeting,
        client: &ClientWriter,
    ) -> Outcome {
        let mut params = request.params.clone();
        self.mean_session(&request.method, &mut params);
        if request.version().is_some() {
            return self.send(request, &params, client).await;
        }
        introduce(&mut params, greeting);
        for _ in 0..ROUNDS {
            let result = self.send(request, &params, client).await?;
            if result["resultType"] != "input_required" {
                return Ok(older(result));
            }
            params.insert("inputResponses".to_owned(), ask(&result, client).await);
            if let Some(state) = result.get("requestState") {
                params.insert("requestState".to_owned(), state.clone());
            }
        }
        Err(error(-32603, "the node asked again and again"))
    }

    /// A tool that is called without a session means the one that was set.
    fn mean_session(&self, method: &str, params: &mut Map<String, Value>) {
        let Some(session) = &self.session else { return };
        let name = params.get("name").and_then(Value::as_str).unwrap_or_default();
        if method != "tools/call" || !self.of_a_session.contains(name) {
            return;
        }
        let arguments = params.entry("arguments").or_insert(Value::Null);
        if arguments.is_null() {
            *arguments = json!({});
        }
        let Some(arguments) = arguments.as_object_mut() else { return };
        // A client that says null says nothing.
        arguments.retain(|key, value| !SESSION.contains(&key.as_str()) || !value.is_null());
        if !SESSION.iter().any(|key| arguments.contains_key(*key)) {
            arguments.insert(SESSION[0].to_owned(), json!(session));
        }
    }

    /// Sends a request, and passes on what comes before the answer.
    async fn send(
        &self,
        request: &Incoming,
        params: &Map<String, Value>,
        client: &ClientWriter,
    ) -> Outcome {
        let mut messages = self.start_request(&request.id, &request.method, params).await?;
        loop {
            let mut message = next(&mut messages).await?;
            if message.get("method").is_some() {
                client.send(message).await;
                continue;
            }
            return match (message["result"].take(), message["error"].take()) {
                (Value::Null, error) => Err(error),
                (result, _) => Ok(result),
            };
        }
    }

    /// Begins a request. What comes before its answer may name the id.
    pub(super) async fn start_request(
        &self,
        id: &Value,
        method: &str,
        params: &Map<String, Value>,
    ) -> Result<Messages, Value> {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let name = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str);
        let (wishes, message) = (&self.wishes, &message);
        let send =
            |node: NodeClient| async move { node.send_mcp(wishes, method, name, message).await };
        self.nodes.ask(send).await.map_err(|failed| failure(&failed))
    }
}

/// The next message of an answer.
async fn next(messages: &mut Messages) -> Outcome {
    match messages.next().await {
        Ok(Some(message)) => Ok(message),
        Ok(None) => Err(failure(&anyhow::anyhow!(ENDED))),
        Err(failed) => Err(failure(&failed.into())),
    }
}

const ENDED: &str = "the node ended in the middle; list_sessions tells what became of it";

/// Why the node did not answer, as the client hears it.
fn failure(failed: &anyhow::Error) -> Value {
    error(-32603, &format!("{failed:#}"))
}

/// Says with the request what an older client has said once.
fn introduce(params: &mut Map<String, Value>, greeting: &Greeting) {
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    if !meta.is_object() {
        *meta = json!({});
    }
    let told = greeting.legacy();
    let info =
        told.map_or_else(|| json!({"name": "unknown", "version": "0"}), |told| told.info.clone());
    let capabilities = told.map_or_else(|| json!({}), |told| told.capabilities.clone());
    meta["io.modelcontextprotocol/protocolVersion"] = json!(STATELESS);
    meta["io.modelcontextprotocol/clientInfo"] = info;
    meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
}

/// Asks the client what the node wants to know, in the manner of older protocols.
async fn ask(result: &Value, client: &ClientWriter) -> Value {
    let mut answers = Map::new();
    let questions = result["inputRequests"].as_object().cloned().unwrap_or_default();
    for (key, mut question) in questions {
        let method = question["method"].as_str().unwrap_or_default().to_owned();
        let answer = client.ask(&method, question["params"].take()).await;
        answers.insert(key, answer.unwrap_or_else(|| json!({"action": "cancel"})));
    }
    Value::Object(answers)
}

/// A result as older protocols know it.
fn older(mut result: Value) -> Value {
    if let Some(fields) = result.as_object_mut() {
        fields.retain(|key, _| !NEW_FIELDS.contains(&key.as_str()));
    }
    result
}

/// Finds the node.
pub(super) struct Nodes {
    context: Context,
    found: tokio::sync::Mutex<Option<NodeClient>>,
}

impl Nodes {
    pub(super) fn new(context: Context) -> Self {
        Self { context, found: tokio::sync::Mutex::default() }
    }

    /// A client of the node that holds the data folder now.
    pub(super) async fn client(&self) -> anyhow::Result<NodeClient> {
        let mut found = self.found.lock().await;
        if let Some(node) = found.as_ref().filter(|node| is_current(&self.context.data, node)) {
            return Ok(node.clone());
        }
        let node = self.context.client().await?;
        *found = Some(node.clone());
        Ok(node)
    }

    /// Whether a node runs. None is started.
    pub(super) async fn is_there(&self) -> bool {
        local::find(&self.context.data).await.is_ok_and(|found| found.is_some())
    }

    /// The node is not where it was: the next one to ask finds or starts it again.
    pub(super) async fn forget(&self) {
        *self.found.lock().await = None;
    }

    /// Asks the node something that may be asked twice.
    pub(super) async fn ask_again<T, A>(&self, ask: impl Fn(NodeClient) -> A) -> anyhow::Result<T>
    where
        A: Future<Output = Result<T, ClientError>>,
    {
        let asked = self.ask(&ask).await;
        let broke = |error: &anyhow::Error| {
            matches!(error.downcast_ref(), Some(ClientError::Unreachable { .. }))
        };
        if !asked.as_ref().is_err_and(broke) {
            return asked;
        }
        self.forget().await;
        self.ask(ask).await
    }

    /// Asks the node. One that has gone since the last time is found or started again; what may have
    /// reached a node is not sent twice.
    pub(super) async fn ask<T, A>(&self, ask: impl Fn(NodeClient) -> A) -> anyhow::Result<T>
    where
        A: Future<Output = Result<T, ClientError>>,
    {
        match ask(self.client().await?).await {
            Err(ClientError::Unreachable { source, .. }) if source.is_connect() => {}
            // A restored data folder has another key.
            Err(ClientError::Problem(problem)) if problem.code == ErrorCode::Unauthenticated => {}
            asked => return Ok(asked?),
        }
        self.forget().await;
        Ok(ask(self.client().await?).await?)
    }
}

pub(super) const SUBSCRIBE: &str = "resources/subscribe";
pub(super) const UNSUBSCRIBE: &str = "resources/unsubscribe";
/// What the node is asked instead, and clients of the newest protocol ask themselves.
pub(super) const LISTEN: &str = "subscriptions/listen";
/// What the client hears.
const UPDATED: &str = "notifications/resources/updated";
/// How long to wait before a node is asked again: twice as long each time.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// What the client has subscribed to, each until it unsubscribes or leaves. A node has one resource of
/// this kind, and refuses others, so there are never many.
#[derive(Default)]
pub(super) struct Subscriptions(Mutex<HashMap<String, AbortOnDropHandle<()>>>);

impl Subscriptions {
    /// Answers a client that subscribes.
    pub(super) async fn subscribe(
        &self,
        request: &Incoming,
        node: &Arc<LazyNode>,
        greeting: &Greeting,
        client: &ClientWriter,
    ) -> Outcome {
        let uri = uri(request)?;
        let mut params = Map::new();
        params.insert("notifications".to_owned(), json!({"resourceSubscriptions": [uri]}));
        introduce(&mut params, greeting);
        let asked = NodeCall { uri: uri.clone(), params, node: Arc::clone(node) };
        let stream = asked.open().await?;
        let task = tokio::spawn(asked.follow(stream, client.clone()));
        // One that was there already ends.
        self.lock().insert(uri, AbortOnDropHandle::new(task));
        Ok(json!({}))
    }

    /// Answers a client that wants to hear no more.
    pub(super) fn end(&self, request: &Incoming) -> Outcome {
        self.lock().remove(&uri(request)?);
        Ok(json!({}))
    }

    /// The client has left.
    pub(super) fn end_all(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, AbortOnDropHandle<()>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn uri(request: &Incoming) -> Result<String, Value> {
    let uri = request.params.get("uri").and_then(Value::as_str).map(str::to_owned);
    uri.ok_or_else(|| error(-32602, "expected the uri of a resource, found none"))
}

/// What the node is asked for.
struct NodeCall {
    uri: String,
    params: Map<String, Value>,
    node: Arc<LazyNode>,
}

impl NodeCall {
    /// A stream on which the node tells of changes.
    async fn open(&self) -> Result<Messages, Value> {
        let mut stream = self.node.start_request(&json!(1), LISTEN, &self.params).await?;
        let first = next(&mut stream).await?;
        let accepted = first.pointer("/params/notifications/resourceSubscriptions");
        let mut accepted = accepted.and_then(Value::as_array).into_iter().flatten();
        if accepted.any(|uri| *uri == *self.uri) {
            return Ok(stream);
        }
        let other = format!("{} is no resource that can be subscribed to", self.uri);
        Err(first.get("error").cloned().unwrap_or_else(|| error(-32002, &other)))
    }

    /// Tells the client of changes, whichever node is there.
    async fn follow(self, mut stream: Messages, client: ClientWriter) {
        let told = json!({"uri": self.uri});
        loop {
            while let Ok(message) = next(&mut stream).await {
                match message.get("method") {
                    Some(method) if method == UPDATED => client.mention(UPDATED, &told),
                    Some(_) => {}
                    // The node ends, or the key was revoked.
                    None => break,
                }
            }
            stream = self.open_again().await;
            client.mention(UPDATED, &told);
        }
    }

    /// The stream of the next node. None is started for it: the person who ended the last one may have meant
    /// it.
    async fn open_again(&self) -> Messages {
        let mut pause = FIRST_PAUSE;
        loop {
            sleep(pause).await;
            if self.node.is_there().await
                && let Ok(stream) = self.open().await
            {
                return stream;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}
