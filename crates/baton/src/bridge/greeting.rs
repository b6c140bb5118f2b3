//! What is answered without a node: who is there, and which tools it has.

use super::message::{Incoming, Outcome, STATELESS, error};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Versions that begin with `initialize`, oldest first.
pub(super) const HANDSHAKES: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Who is there, and its tools.
pub(super) struct Greeting {
    server: Value,
    tools: Value,
    /// What the client said of itself when it began, if it did.
    told: std::sync::OnceLock<LegacyGreeting>,
}

/// What a client of an older protocol says of itself once.
#[derive(Debug, Clone)]
pub(super) struct LegacyGreeting {
    /// Its name and version.
    pub(super) info: Value,
    /// What it can do.
    pub(super) capabilities: Value,
    /// The version of the protocol that was agreed upon.
    pub(super) version: &'static str,
}

impl Greeting {
    /// Behind another server the list may change, and there is a log.
    pub(super) fn new(mut server: Value, tools: &[Value], has_another: bool) -> Self {
        if has_another {
            server["capabilities"]["logging"] = json!({});
            server["capabilities"]["tools"]["listChanged"] = json!(true);
        }
        Self { server, tools: json!(tools), told: std::sync::OnceLock::new() }
    }

    /// What a client of an older protocol said of itself.
    pub(super) fn legacy(&self) -> Option<&LegacyGreeting> {
        self.told.get()
    }

    /// The answer to a request that needs no node; none to any other.
    pub(super) fn answer(&self, request: &Incoming) -> Option<Outcome> {
        let result = match request.method.as_str() {
            "initialize" => self.initialize(request),
            "server/discover" => self.discover(),
            "ping" => json!({}),
            "logging/setLevel" => return Some(Err(error(-32601, "there is no log here"))),
            "tools/list" => cached(request, json!({"tools": self.tools})),
            _ => return None,
        };
        Some(Ok(result))
    }

    /// The line that answers a request for the tools, with `others` behind ours as they were written.
    pub(super) fn list<'tools>(
        &self,
        request: &Incoming,
        others: impl Iterator<Item = &'tools RawValue>,
    ) -> String {
        let ours = self.tools.as_array().into_iter().flatten().map(Value::to_string);
        let tools: Vec<_> = ours.chain(others.map(|tool| tool.get().to_owned())).collect();
        let rest = cached(request, json!({})).to_string();
        let rest = rest.trim_matches(['{', '}']);
        let comma = if rest.is_empty() { "" } else { "," };
        let (id, tools) = (&request.id, tools.join(","));
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{tools}]{comma}{rest}}}}}"#)
    }

    fn initialize(&self, request: &Incoming) -> Value {
        let params = &request.params;
        let of = |key: &str, else_: Value| params.get(key).cloned().unwrap_or(else_);
        let info = of("clientInfo", json!({"name": "unknown", "version": "0"}));
        let asked = params.get("protocolVersion").and_then(Value::as_str);
        let newest = HANDSHAKES[HANDSHAKES.len() - 1];
        let version = HANDSHAKES.into_iter().find(|known| asked == Some(*known)).unwrap_or(newest);
        // A second one says nothing new.
        let _ = self.told.set(LegacyGreeting {
            info,
            capabilities: of("capabilities", json!({})),
            version,
        });
        let mut result = self.server.clone();
        result["protocolVersion"] = json!(version);
        result
    }

    fn discover(&self) -> Value {
        let versions: Vec<&str> = HANDSHAKES.into_iter().chain([STATELESS]).collect();
        let mut result = self.server.clone();
        let info = result.as_object_mut().and_then(|fields| fields.remove("serverInfo"));
        result["supportedVersions"] = json!(versions);
        result["_meta"] = json!({"io.modelcontextprotocol/serverInfo": info});
        hints(result)
    }
}

/// A list, with what newer clients want to know of it.
fn cached(request: &Incoming, result: Value) -> Value {
    let is_new = request.version().is_some_and(|version| version >= STATELESS);
    if is_new { hints(result) } else { result }
}

fn hints(mut result: Value) -> Value {
    result["resultType"] = json!("complete");
    result["ttlMs"] = json!(0);
    result["cacheScope"] = json!("private");
    result
}
