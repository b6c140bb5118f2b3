//! The model, how it is asked, and what it answers: piece by piece, or whole.
//!
//! The format is that of `chat.completion.chunk` (OpenAI's API reference, "Streaming"): server-sent events, a
//! `delta` each, `[DONE]` at last. A model that knows no streams answers with one message.

use crate::Agents;
use crate::error::{AgentsError, GatewayRefusal};
use crate::settings::UpstreamSettings;
use baton_api::chat::Usage;
use baton_net::outbound;
use baton_net::outbound::Reach;
use baton_store::blocking::blocking;
use baton_store::plain;
use futures_util::stream::{BoxStream, StreamExt, try_unfold};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};
use sse_stream::{Sse, SseStream};
use std::io;
use std::time::Duration;
use url::Url;

/// How long one answer of a model may take.
const ANSWER_LIMIT: Duration = Duration::from_mins(10);
/// How much of what a model says of an error is shown, in characters.
const TOLD: usize = 300;

/// A model that can be asked.
pub(super) struct Upstream<'a> {
    settings: &'a UpstreamSettings,
    client: reqwest::Client,
    url: Url,
    key: Option<SecretString>,
}

impl<'a> Upstream<'a> {
    /// Looks its address up, and reads its key.
    pub(super) async fn reach(
        context: &Agents,
        settings: &'a UpstreamSettings,
    ) -> Result<Self, AgentsError> {
        // The address is of the settings, so it may be on this machine.
        let client =
            outbound::client(&context.outbound, &settings.url, Reach { loopback: true }).await?;
        let url = outbound::address(&settings.url, &["chat", "completions"])?;
        let key = match &settings.key_file {
            Some(file) => {
                let text = plain::secret(file).await;
                let unread = |error| failed(format!("its key cannot be read: {error}"));
                Some(SecretString::from(text.map_err(unread)?.trim()))
            }
            None => None,
        };
        Ok(Self { settings, client, url, key })
    }

    /// Asks for the next turn, which comes piece by piece where the model knows how. One that refuses to is
    /// asked for all of it.
    pub(super) async fn ask(
        &self,
        messages: &[Value],
        tools: &Value,
    ) -> Result<Heard, AgentsError> {
        let mut body = json!({"model": self.settings.model, "messages": messages, "tools": tools});
        let whole = body.clone();
        body["stream"] = true.into();
        body["stream_options"] = json!({"include_usage": true});
        let response = self.post(&body).await?;
        if matches!(response.status().as_u16(), 400 | 422) {
            return self.heard(self.post(&whole).await?).await;
        }
        self.heard(response).await
    }

    async fn post(&self, body: &Value) -> Result<reqwest::Response, AgentsError> {
        let mut call = self.client.post(self.url.clone()).timeout(ANSWER_LIMIT).json(body);
        if let Some(key) = &self.key {
            call = call.header("authorization", outbound::bearer(key)?);
        }
        Ok(call.send().await.map_err(|error| failed(outbound::said(error)))?)
    }

    async fn heard(&self, response: reqwest::Response) -> Result<Heard, AgentsError> {
        let status = response.status();
        if status.is_success() {
            return Heard::of(response).await;
        }
        let answer = outbound::bounded(response, ANSWER_MAX).await.map_err(failed)?;
        let complaint = blocking(move || complaint(&answer)).await?;
        Err(failed(format!("it answers {status}{complaint}")).into())
    }
}

/// What a model says of its error, behind a colon; nothing when it says none.
fn complaint(answer: &[u8]) -> String {
    let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
    match answer["error"]["message"].as_str() {
        Some(text) => format!(": {}", text.chars().take(TOLD).collect::<String>()),
        None => String::new(),
    }
}

/// What a model answers.
pub(super) struct Reply {
    /// What it says and is not sent yet.
    pub(super) text: String,
    /// What it wants to be run.
    pub(super) calls: Vec<Call>,
    pub(super) usage: Option<Usage>,
    /// All of it, as it is sent again in the next turn.
    pub(super) message: Value,
}

/// A tool that a model calls.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) function: Function,
}

/// Which one, and with what.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Function {
    pub(super) name: String,
    /// A text in JSON.
    pub(super) arguments: String,
}

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    message: Value,
}

#[derive(Deserialize)]
struct Spoken {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<Call>>,
}

/// Why a model gives no answer.
pub(super) fn failed(why: String) -> GatewayRefusal {
    GatewayRefusal::Upstream { why }
}

/// Reads an answer that came whole.
pub(super) fn read(answer: &[u8]) -> Result<Reply, String> {
    let unread = |error: serde_json::Error| format!("expected a chat completion, found {error}");
    let Answer { choices, usage } = serde_json::from_slice(answer).map_err(unread)?;
    let first = choices.into_iter().next().ok_or("expected a choice, found none")?;
    let spoken: Spoken = serde_json::from_value(first.message.clone()).map_err(unread)?;
    Ok(Reply {
        text: spoken.content.unwrap_or_default(),
        calls: spoken.tool_calls.unwrap_or_default(),
        usage,
        message: first.message,
    })
}

/// The largest answer, in bytes.
pub(super) const ANSWER_MAX: usize = 4 << 20;
/// The most tools that one answer may call.
const MOST_CALLS: usize = 128;
/// The last event.
const DONE: &str = "[DONE]";

/// An answer on its way.
pub(super) enum Heard {
    /// It came whole.
    Whole(Option<Reply>),
    /// It comes in pieces.
    Pieces(Pieces),
}

/// An answer in pieces.
pub(super) struct Pieces {
    events: BoxStream<'static, Result<Sse, sse_stream::Error>>,
    put: Put,
    is_whole: bool,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<ChunkChoice>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct ChunkChoice {
    #[serde(default)]
    delta: Delta,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize, Default)]
struct Delta {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<CallPiece>>,
}

#[derive(Deserialize)]
struct CallPiece {
    index: usize,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    function: Option<FunctionPiece>,
}

#[derive(Deserialize)]
struct FunctionPiece {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<String>,
}

impl Heard {
    /// Takes an answer of success.
    pub(super) async fn of(response: reqwest::Response) -> Result<Self, AgentsError> {
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream")) {
            return Ok(Self::Pieces(Pieces::of(response)));
        }
        let answer = outbound::bounded(response, ANSWER_MAX).await.map_err(failed)?;
        let reply = blocking(move || read(&answer)).await?.map_err(failed)?;
        Ok(Self::Whole(Some(reply)))
    }

    /// What is said next; none when all has been said.
    pub(super) async fn next(&mut self) -> Result<Option<String>, AgentsError> {
        match self {
            Self::Whole(reply) => {
                let text = reply.as_mut().map(|reply| std::mem::take(&mut reply.text));
                Ok(text.filter(|text| !text.is_empty()))
            }
            Self::Pieces(pieces) => Ok(pieces.next().await.map_err(failed)?),
        }
    }

    /// All of it, once all has been said.
    pub(super) fn end(self) -> Result<Reply, AgentsError> {
        let reply = match self {
            Self::Whole(reply) => reply,
            Self::Pieces(pieces) => pieces.is_whole.then(|| pieces.put.end()),
        };
        Ok(reply.ok_or_else(|| failed("its answer broke off".to_owned()))?)
    }
}

impl Pieces {
    fn of(response: reqwest::Response) -> Self {
        let bytes = try_unfold((response, 0), |(mut response, before)| async move {
            let chunk = response.chunk().await;
            let Some(chunk) = chunk.map_err(|error| io::Error::other(outbound::said(error)))?
            else {
                return Ok(None);
            };
            let size = before + chunk.len();
            if size > ANSWER_MAX {
                return Err(io::Error::other(format!(
                    "expected at most {ANSWER_MAX} bytes, found more"
                )));
            }
            Ok(Some((chunk, (response, size))))
        });
        let events = SseStream::from_bytes_stream(bytes.boxed()).boxed();
        Self { events, put: Put::default(), is_whole: false }
    }

    async fn next(&mut self) -> Result<Option<String>, String> {
        while let Some(event) = self.events.next().await {
            let event = event.map_err(|error| match error {
                sse_stream::Error::Body(error) => error.to_string(),
                other => format!("expected server-sent events, found {other}"),
            })?;
            let Some(data) = event.data else { continue };
            if data.trim() == DONE {
                self.is_whole = true;
                return Ok(None);
            }
            let said = self.put.hear(&data)?;
            // Some servers say nothing after it, and some still tell the tokens.
            self.is_whole |= self.put.is_finished;
            if !said.is_empty() {
                return Ok(Some(said));
            }
        }
        Ok(None)
    }
}

/// What the pieces make together.
#[derive(Default)]
struct Put {
    text: String,
    calls: Vec<Call>,
    usage: Option<Usage>,
    is_finished: bool,
}

impl Put {
    /// Takes a piece, and returns what it says.
    fn hear(&mut self, piece: &str) -> Result<String, String> {
        let unread = |error: serde_json::Error| {
            format!("expected a piece of a chat completion, found {error}")
        };
        let Chunk { choices, usage, error } = serde_json::from_str(piece).map_err(unread)?;
        if let Some(error) = error {
            let why = error["message"].as_str().unwrap_or("an error").chars().take(300);
            return Err(format!("it breaks off: {}", why.collect::<String>()));
        }
        self.usage = usage.or(self.usage.take());
        let Some(ChunkChoice { delta, finish_reason }) = choices.into_iter().next() else {
            return Ok(String::new());
        };
        self.is_finished |= finish_reason.is_some();
        for piece in delta.tool_calls.unwrap_or_default() {
            self.call(piece)?;
        }
        let said = delta.content.unwrap_or_default();
        self.text.push_str(&said);
        Ok(said)
    }

    fn call(&mut self, piece: CallPiece) -> Result<(), String> {
        if piece.index >= MOST_CALLS || piece.index > self.calls.len() {
            return Err(format!(
                "expected tool calls in their order, at most {MOST_CALLS}, found number {}",
                piece.index
            ));
        }
        if piece.index == self.calls.len() {
            self.calls.push(Call::default());
        }
        let call = &mut self.calls[piece.index];
        call.id = piece.id.unwrap_or(std::mem::take(&mut call.id));
        let Some(FunctionPiece { name, arguments }) = piece.function else { return Ok(()) };
        call.function.name.push_str(&name.unwrap_or_default());
        call.function.arguments.push_str(&arguments.unwrap_or_default());
        Ok(())
    }

    fn end(self) -> Reply {
        let content = (!self.text.is_empty()).then_some(self.text);
        let mut message = json!({"role": "assistant", "content": content});
        if !self.calls.is_empty() {
            let calls = self.calls.iter().map(|Call { id, function: Function { name, arguments } }| {
                json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
            });
            message["tool_calls"] = calls.collect();
        }
        Reply { text: String::new(), calls: self.calls, usage: self.usage, message }
    }
}

#[cfg(test)]
mod tests {
    use super::{complaint, read, *};

    #[test]
    fn an_error_of_a_model_is_told_where_it_says_one() {
        assert_eq!(complaint(br#"{"error": {"message": "no such model"}}"#), ": no such model");
        assert_eq!(complaint(b"\xff"), "");
    }

    #[test]
    fn what_is_no_answer_says_what_was_expected() {
        let why = |text: &str| read(text.as_bytes()).err().unwrap_or_default();
        insta::assert_snapshot!(why("<html>"), @"expected a chat completion, found expected value at line 1 column 1");
        insta::assert_snapshot!(why(r#"{"choices": []}"#), @"expected a choice, found none");
        insta::assert_snapshot!(why(r#"{"choices": [{"message": {"content": 1}}]}"#), @"expected a chat completion, found invalid type: integer `1`, expected a string");
        let said = read(br#"{"choices": [{"message": {"role": "assistant", "content": null}}]}"#);
        assert!(said.is_ok_and(|reply| reply.text.is_empty() && reply.calls.is_empty()));
    }

    #[test]
    fn pieces_make_what_would_have_come_whole() {
        let mut put = Put::default();
        let said: Vec<String> = [
            r#"{"choices": [{"delta": {"role": "assistant", "content": "I "}}]}"#,
            r#"{"choices": [{"delta": {"content": "look."}}]}"#,
            r#"{"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c1", "type": "function", "function": {"name": "run_command", "arguments": "{\"comm"}}]}}]}"#,
            r#"{"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "and\": \"ls\"}"}}]}}]}"#,
            r#"{"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}"#,
            r#"{"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}}"#,
        ]
        .into_iter()
        .map(|piece| put.hear(piece).unwrap())
        .collect();
        assert_eq!(said.concat(), "I look.");
        assert!(put.is_finished);
        let reply = put.end();
        insta::assert_snapshot!(reply.message, @r#"{"content":"I look.","role":"assistant","tool_calls":[{"function":{"arguments":"{\"command\": \"ls\"}","name":"run_command"},"id":"c1","type":"function"}]}"#);
        assert_eq!(reply.usage.map(|usage| usage.total_tokens), Some(3));
        assert_eq!(reply.calls.len(), 1);
    }

    #[test]
    fn what_is_no_piece_says_what_was_expected() {
        let why = |piece: &str| Put::default().hear(piece).unwrap_err();
        insta::assert_snapshot!(why("<html>"), @"expected a piece of a chat completion, found expected value at line 1 column 1");
        insta::assert_snapshot!(why(r#"{"error": {"message": "overloaded"}}"#), @"it breaks off: overloaded");
        insta::assert_snapshot!(why(r#"{"choices": [{"delta": {"tool_calls": [{"index": 7}]}}]}"#), @"expected tool calls in their order, at most 128, found number 7");
    }
}
