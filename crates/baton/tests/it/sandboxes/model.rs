//! A model that says what it is told to say: no real one can be reached from a test.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use baton_playground::Site;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// One turn of a model: from what it is asked to what it answers.
type Turn = Box<dyn Fn(&Value) -> Value + Send>;

/// A model that is asked over HTTP.
pub(super) struct Model {
    site: Site,
    script: Arc<Script>,
}

#[derive(Default)]
struct Script {
    turns: Mutex<VecDeque<Turn>>,
    asked: Mutex<Vec<Value>>,
}

async fn complete(
    State(script): State<Arc<Script>>,
    headers: HeaderMap,
    Json(request): Json<Value>,
) -> Response {
    if headers.get("authorization").is_none_or(|key| key != "Bearer m0del") {
        let error = json!({"error": {"message": "no such key"}});
        return (StatusCode::UNAUTHORIZED, Json(error)).into_response();
    }
    let turn = script.turns.lock().unwrap().pop_front();
    let answer = turn.map(|turn| turn(&request));
    script.asked.lock().unwrap().push(request);
    match answer {
        Some(answer) => Json(answer).into_response(),
        None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

impl Model {
    /// A model with nothing to say.
    pub(super) async fn start() -> Self {
        let script = Arc::<Script>::default();
        let pages = Router::new()
            .route("/v1/chat/completions", post(complete))
            .with_state(Arc::clone(&script));
        Self { site: Site::start(pages).await.unwrap(), script }
    }

    /// What it does next.
    pub(super) fn then(&self, turn: impl Fn(&Value) -> Value + Send + 'static) {
        self.script.turns.lock().unwrap().push_back(Box::new(turn));
    }

    /// What it was asked.
    pub(super) fn asked(&self) -> Vec<Value> {
        self.script.asked.lock().unwrap().clone()
    }

    /// Settings of a node that asks it.
    pub(super) fn settings(&self, key_file: &std::path::Path) -> String {
        let (url, file) = (self.site.url("/v1").unwrap(), key_file.display());
        format!(
            "[gateway.upstream]\nurl = \"{url}\"\nmodel = \"scripted\"\nkey_file = \"{file}\"\nturns = 3\nflavor = \"tools\"\n"
        )
    }
}

/// A turn that wants a command to be run.
pub(super) fn runs(line: &str) -> Value {
    let arguments = json!({"command": line}).to_string();
    let call = json!({"id": "call-1", "type": "function",
        "function": {"name": "run_command", "arguments": arguments}});
    let message = json!({"role": "assistant", "content": "I look.", "tool_calls": [call]});
    json!({"choices": [{"message": message}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}})
}

/// A turn that says something.
pub(super) fn says(text: &str) -> Value {
    json!({"choices": [{"message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 3, "total_tokens": 23}})
}

/// What the last command wrote, in a request.
pub(super) fn written(request: &Value) -> String {
    let last = request["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(last["role"], "tool");
    last["content"].as_str().unwrap().to_owned()
}
