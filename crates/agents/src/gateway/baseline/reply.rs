//! A model's answer: what it says, and what it wants to be run.

use crate::gateway::error::GatewayRefusal;
use baton_api::chat::Usage;
use serde::Deserialize;
use serde_json::Value;

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

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn what_is_no_answer_says_what_was_expected() {
        let why = |text: &str| read(text.as_bytes()).err().unwrap_or_default();
        insta::assert_snapshot!(why("<html>"), @"expected a chat completion, found expected value at line 1 column 1");
        insta::assert_snapshot!(why(r#"{"choices": []}"#), @"expected a choice, found none");
        insta::assert_snapshot!(why(r#"{"choices": [{"message": {"content": 1}}]}"#), @"expected a chat completion, found invalid type: integer `1`, expected a string");
        let said = read(br#"{"choices": [{"message": {"role": "assistant", "content": null}}]}"#);
        assert!(said.is_ok_and(|reply| reply.text.is_empty() && reply.calls.is_empty()));
    }
}
