//! A model that says what it is told to say: no real one can be reached from a test.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use baton_playground::Site;
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;

/// One turn of a model: from what it is asked to what it answers.
type Turn = Box<dyn Fn(&Value) -> Value + Send>;

/// A model that is asked over HTTP.
pub(super) struct Model {
    site: Site,
    script: Arc<Script>,
}

struct Script {
    turns: Mutex<VecDeque<Turn>>,
    asked: Mutex<Vec<Value>>,
    /// Whether it knows no streams.
    is_plain: bool,
    /// Told of each piece that a listener has got: only then the next one comes.
    heard: Arc<Semaphore>,
}

/// Sends what it says a word at a time, each once the one before has been heard, where somebody tells of that.
fn in_pieces(answer: &Value, heard: &Arc<Semaphore>) -> Response {
    let chunk = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let Some(message) = answer["choices"][0].get("message") else {
        return Json(answer.clone()).into_response();
    };
    let words = message["content"].as_str().unwrap_or_default().split_inclusive(' ');
    let mut pieces: Vec<Value> = words.map(|word| chunk(json!({"content": word}))).collect();
    for (index, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let arguments = call["function"]["arguments"].as_str().unwrap();
        let half = arguments.floor_char_boundary(arguments.len() / 2);
        let mut first = call.clone();
        first["index"] = index.into();
        first["function"]["arguments"] = arguments[..half].into();
        let second = json!({"index": index, "function": {"arguments": arguments[half..]}});
        pieces.extend([first, second].map(|call| chunk(json!({"tool_calls": [call]}))));
    }
    pieces.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}));
    pieces.push(json!({"choices": [], "usage": answer["usage"]}));
    let texts = pieces.into_iter().map(|piece| piece.to_string()).chain(["[DONE]".to_owned()]);
    let heard = Arc::clone(heard);
    let events = stream::iter(texts.enumerate()).then(move |(number, text)| {
        let heard = Arc::clone(&heard);
        async move {
            if number > 0 {
                heard.acquire().await.unwrap().forget();
            }
            Ok::<_, Infallible>(Event::default().data(text))
        }
    });
    Sse::new(events).into_response()
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
    if script.is_plain && request["stream"] == true {
        let error = json!({"error": {"message": "no streams here"}});
        return (StatusCode::BAD_REQUEST, Json(error)).into_response();
    }
    let wants_pieces = request["stream"] == true;
    let turn = script.turns.lock().unwrap().pop_front();
    let answer = turn.map(|turn| turn(&request));
    script.asked.lock().unwrap().push(request);
    match answer {
        Some(answer) if wants_pieces => in_pieces(&answer, &script.heard),
        Some(answer) => Json(answer).into_response(),
        None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

impl Model {
    /// A model with nothing to say.
    pub(super) async fn start() -> Self {
        Self::with(10_000, false).await
    }

    /// One that says the next word once somebody has [`heard`](Self::heard) the last one.
    pub(super) async fn start_slow() -> Self {
        Self::with(0, false).await
    }

    /// One that knows no streams.
    pub(super) async fn start_plain() -> Self {
        Self::with(0, true).await
    }

    async fn with(heard: usize, is_plain: bool) -> Self {
        let heard = Arc::new(Semaphore::new(heard));
        let (turns, asked) = (Mutex::default(), Mutex::default());
        let script = Arc::new(Script { turns, asked, is_plain, heard });
        let pages = Router::new()
            .route("/v1/chat/completions", post(complete))
            .with_state(Arc::clone(&script));
        Self { site: Site::start(pages).await.unwrap(), script }
    }

    /// What it does next.
    pub(super) fn then(&self, turn: impl Fn(&Value) -> Value + Send + 'static) {
        self.script.turns.lock().unwrap().push_back(Box::new(turn));
    }

    /// Somebody has heard a piece.
    pub(super) fn heard(&self) {
        self.script.heard.add_permits(1);
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
