//! What a model answers, as it comes: piece by piece, or whole.
//!
//! The format is that of `chat.completion.chunk` (OpenAI's API reference, "Streaming"): server-sent events, a
//! `delta` each, `[DONE]` at last. A model that knows no streams answers with one message.

use super::reply::{Call, Function, Reply, failed, read};
use crate::error::AgentsError;
use baton_api::chat::Usage;
use baton_net::client;
use baton_store::blocking::blocking;
use futures_util::stream::{BoxStream, StreamExt, try_unfold};
use serde::Deserialize;
use serde_json::{Value, json};
use sse_stream::{Sse, SseStream};
use std::io;

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
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
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
        let answer = client::bounded(response, ANSWER_MAX).await.map_err(failed)?;
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
            let Some(chunk) = chunk.map_err(|error| io::Error::other(client::said(error)))? else {
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
        let Some(Choice { delta, finish_reason }) = choices.into_iter().next() else {
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
    use super::*;

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
