//! The gateway's requests and answers: OpenAI's chat completions, as far as agents have use for them.
//!
//! Shapes: the API reference of OpenAI, "Chat completions" and "Models". What a client sends beside the
//! fields here (such as `temperature`) is left to the agent's model and not read.

use crate::sandbox::WrittenBack;
use baton_session::SandboxId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Asks an agent.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub struct ChatRequest {
    /// Which agent: one of `/v1/models`.
    pub model: String,
    /// What was said so far, the oldest first; 1 to 1000.
    pub messages: Vec<ChatMessage>,
    /// Whether the answer comes in pieces, as server-sent events.
    #[serde(default)]
    pub stream: bool,
    /// How it comes in pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_options: Option<StreamOptions>,
    /// How many answers there shall be; only 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u32>,
    /// Tools of the caller; agents have their own, so only none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub tools: Vec<serde_json::Value>,
    /// Baton's own: the session that the agent is logged in with, by its id, a unique prefix or its name.
    /// The agent holds it until it has answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_session_id: Option<String>,
    /// Baton's own: whether the agent gets a copy of that session, and nothing is written back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub browser_session_shared: bool,
    /// Baton's own: whether that session is taken also from whoever drives it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub browser_session_take: bool,
}

/// How an answer comes in pieces.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
pub struct StreamOptions {
    /// Whether the last piece tells the tokens.
    #[serde(default)]
    pub include_usage: bool,
}

/// Something that was said.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub struct ChatMessage {
    /// By whom.
    pub role: Role,
    /// What; an assistant that only calls tools says nothing.
    #[serde(default)]
    pub content: Option<Content>,
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Who wrote the program.
    System,
    /// The same, by its newer name.
    Developer,
    /// Who asks.
    User,
    /// Who answers.
    Assistant,
}

impl Role {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// What is said: a text, or parts of one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(untagged)]
pub enum Content {
    /// A text.
    Text(String),
    /// Parts, one behind the other.
    Parts(Vec<ContentPart>),
}

/// A part of what is said.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub struct ContentPart {
    /// What it is; agents read only `text`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A whole answer.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ChatCompletion {
    /// Which one.
    pub id: String,
    /// `chat.completion`
    pub object: String,
    /// When it was asked for, in seconds since 1970.
    pub created: i64,
    /// Which agent answered.
    pub model: String,
    /// The one answer.
    pub choices: Vec<Choice>,
    /// The tokens, as far as they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What became of the sandbox.
    pub baton: Ran,
}

/// An answer.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Choice {
    /// 0
    pub index: u32,
    /// What the agent said.
    pub message: ChatMessage,
    /// Why it ends.
    pub finish_reason: FinishReason,
}

/// A piece of an answer.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ChatChunk {
    /// Of which answer.
    pub id: String,
    /// `chat.completion.chunk`
    pub object: String,
    /// When the answer was asked for, in seconds since 1970.
    pub created: i64,
    /// Which agent answers.
    pub model: String,
    /// The piece; none in the one that tells the tokens.
    pub choices: Vec<ChunkChoice>,
    /// The tokens, in the last piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What became of the sandbox, in the piece that says why the answer ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baton: Option<Ran>,
}

/// A piece of an answer.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ChunkChoice {
    /// 0
    pub index: u32,
    /// What the agent said.
    pub delta: Delta,
    /// Why it ends, in the last piece.
    pub finish_reason: Option<FinishReason>,
}

/// What an agent said since the last piece.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct Delta {
    /// Who says it, in the first piece.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// What.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// Why an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The agent is done.
    Stop,
    /// It said as much, or took as many turns, as it may.
    Length,
}

/// The tokens of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Usage {
    /// Read by the model.
    pub prompt_tokens: u64,
    /// Written by it.
    pub completion_tokens: u64,
    /// Both.
    pub total_tokens: u64,
}

/// What became of an agent's sandbox.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Ran {
    /// In which one it ran.
    pub sandbox_id: SandboxId,
    /// What became of the session that it held; none when it held none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_session: Option<WrittenBack>,
    /// What its caller should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The agents that may be asked.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ModelList {
    /// `list`
    pub object: String,
    /// By their names.
    pub data: Vec<Model>,
}

/// An agent that may be asked.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Model {
    /// Its name.
    pub id: String,
    /// `model`
    pub object: String,
    /// 0: agents have no date.
    pub created: i64,
    /// `baton`
    pub owned_by: String,
}

/// An answer that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChatError {
    /// Why.
    pub error: ChatErrorBody,
}

/// Why an answer failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChatErrorBody {
    /// What was expected, what was found, and what to do.
    pub message: String,
    /// Which kind of error: OpenAI's words.
    #[serde(rename = "type")]
    pub kind: String,
    /// Always null: the message names the field.
    pub param: Option<String>,
    /// Baton's code.
    pub code: String,
}
