//! Requests that a node answers: passed on, each for itself, and translated for older clients.
//!
//! The node is asked in the newest protocol, where nothing is remembered between two requests, so a
//! node may end and another begin without the client hearing of it.

use super::client::Client;
use super::greeting::Greeting;
use super::message::{Incoming, Outcome, STATELESS, error};
use super::nodes::Nodes;
use baton_api::{Client as NodeClient, Messages, Wishes};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What answers of the newest protocol have and older ones have not.
const NEW_FIELDS: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];
/// What a tool's session is called among its arguments.
pub(super) const SESSION: [&str; 2] = ["sessionId", "session_id"];
/// How many times in a row the client is asked for the same request.
const ROUNDS: usize = 3;

/// The node of the data folder, found or started at the first request.
pub(super) struct Node {
    nodes: Arc<Nodes>,
    wishes: Wishes,
    session: Option<String>,
    /// The tools that take a session.
    of_a_session: BTreeSet<String>,
}

impl Node {
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
        client: &Client,
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
        // Whoever says null says nothing.
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
        client: &Client,
    ) -> Outcome {
        let mut messages = self.begin(&request.id, &request.method, params).await?;
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
    pub(super) async fn begin(
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
pub(super) async fn next(messages: &mut Messages) -> Outcome {
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
pub(super) fn introduce(params: &mut Map<String, Value>, greeting: &Greeting) {
    let meta = params.entry("_meta").or_insert_with(|| json!({}));
    if !meta.is_object() {
        *meta = json!({});
    }
    let told = greeting.told();
    let info =
        told.map_or_else(|| json!({"name": "unknown", "version": "0"}), |told| told.info.clone());
    let capabilities = told.map_or_else(|| json!({}), |told| told.capabilities.clone());
    meta["io.modelcontextprotocol/protocolVersion"] = json!(STATELESS);
    meta["io.modelcontextprotocol/clientInfo"] = info;
    meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
}

/// Asks the client what the node wants to know, in the manner of older protocols.
async fn ask(result: &Value, client: &Client) -> Value {
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
