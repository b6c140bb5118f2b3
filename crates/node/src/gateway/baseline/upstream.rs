//! The model: how it is asked, and what it answers.

use super::heard::{ANSWER_MAX, Heard};
use crate::blocking::blocking;
use crate::config::UpstreamSettings;
use crate::gateway::GatewayRefusal;
use crate::outbound::Reach;
use crate::plain;
use crate::{Context, NodeError, line};
use baton_api::chat::Usage;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;
use url::Url;

/// How long one answer of a model may take.
const ANSWER_LIMIT: Duration = Duration::from_mins(10);
/// How much of what a model says of an error is told, in characters.
const TOLD: usize = 300;

/// A model that can be asked.
pub(super) struct Upstream<'a> {
    settings: &'a UpstreamSettings,
    client: reqwest::Client,
    url: Url,
    key: Option<SecretString>,
}

/// What a model answers.
pub(super) struct Reply {
    /// What it says and is not told yet.
    pub(super) text: String,
    /// What it wants to be run.
    pub(super) calls: Vec<Call>,
    pub(super) usage: Option<Usage>,
    /// All of it, as it is told again in the next turn.
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

impl<'a> Upstream<'a> {
    /// Looks its address up, and reads its key.
    pub(super) async fn reach(
        context: &Context,
        settings: &'a UpstreamSettings,
    ) -> Result<Self, NodeError> {
        // The address is of the settings, so it may be on this machine.
        let client =
            line::client(&context.outbound, &settings.url, Reach { loopback: true }).await?;
        let url = line::address(&settings.url, &["chat", "completions"])?;
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
    pub(super) async fn ask(&self, messages: &[Value], tools: &Value) -> Result<Heard, NodeError> {
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

    async fn post(&self, body: &Value) -> Result<reqwest::Response, NodeError> {
        let mut call = self.client.post(self.url.clone()).timeout(ANSWER_LIMIT).json(body);
        if let Some(key) = &self.key {
            call = call.header("authorization", line::bearer(key)?);
        }
        Ok(call.send().await.map_err(|error| failed(line::said(error)))?)
    }

    async fn heard(&self, response: reqwest::Response) -> Result<Heard, NodeError> {
        let status = response.status();
        if status.is_success() {
            return Heard::of(response).await;
        }
        let answer = line::bounded(response, ANSWER_MAX).await.map_err(failed)?;
        let complaint = blocking(move || complaint(&answer)).await?;
        Err(failed(format!("it answers {status}{complaint}")).into())
    }
}

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

/// What a model says of its error, behind a colon; nothing when it says none.
fn complaint(answer: &[u8]) -> String {
    let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
    match answer["error"]["message"].as_str() {
        Some(text) => format!(": {}", text.chars().take(TOLD).collect::<String>()),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{complaint, read};

    #[test]
    fn what_is_no_answer_says_what_was_expected() {
        let why = |text: &str| read(text.as_bytes()).err().unwrap_or_default();
        insta::assert_snapshot!(why("<html>"), @"expected a chat completion, found expected value at line 1 column 1");
        insta::assert_snapshot!(why(r#"{"choices": []}"#), @"expected a choice, found none");
        insta::assert_snapshot!(why(r#"{"choices": [{"message": {"content": 1}}]}"#), @"expected a chat completion, found invalid type: integer `1`, expected a string");
        let said = read(br#"{"choices": [{"message": {"role": "assistant", "content": null}}]}"#);
        assert!(said.is_ok_and(|reply| reply.text.is_empty() && reply.calls.is_empty()));
        assert_eq!(complaint(br#"{"error": {"message": "no such model"}}"#), ": no such model");
        assert_eq!(complaint(b"\xff"), "");
    }
}
