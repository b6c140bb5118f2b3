//! How an answer reads on the wire: whole, in pieces, or as an error, in OpenAI's shapes.

use super::ask::Run;
use super::{Done, RunEvent};
use crate::error::AgentsError;
use baton_api::chat::{
    ChatChunk, ChatCompletion, ChatError, ChatErrorBody, ChatMessage, Choice, ChunkChoice, Content,
    Delta, FinishReason, Ran, Role, Usage,
};
use baton_api::{ErrorCode, Problem};
use baton_runtime::live::LiveError;

/// What all pieces of one answer have in common.
#[derive(Debug, Clone)]
pub struct Shape {
    id: String,
    created: i64,
    model: String,
    /// Whether the last piece tells the tokens.
    tells_usage: bool,
}

impl Shape {
    /// The shape of an agent's answer.
    pub fn of(run: &Run, tells_usage: bool) -> Self {
        Self {
            id: format!("chatcmpl-{}", run.sandbox),
            created: run.created.as_second(),
            model: run.model.clone(),
            tells_usage,
        }
    }

    /// The first piece: who speaks.
    pub fn first(&self) -> ChatChunk {
        let delta = Delta { role: Some(Role::Assistant), content: Some(String::new()) };
        self.chunk(delta, None)
    }

    /// What is said in between.
    pub fn text(&self, text: String) -> ChatChunk {
        self.chunk(Delta { role: None, content: Some(text) }, None)
    }

    /// The last pieces.
    pub fn last(&self, done: Done) -> Vec<ChatChunk> {
        let mut end = self.chunk(Delta::default(), Some(done.finish));
        end.baton = Some(done.ran);
        let usage = self.tells_usage.then_some(done.usage).flatten();
        let told = usage.map(|usage| ChatChunk {
            choices: Vec::new(),
            usage: Some(usage),
            ..self.chunk(Delta::default(), None)
        });
        std::iter::once(end).chain(told).collect()
    }

    fn chunk(&self, delta: Delta, finish_reason: Option<FinishReason>) -> ChatChunk {
        ChatChunk {
            id: self.id.clone(),
            object: "chat.completion.chunk".to_owned(),
            created: self.created,
            model: self.model.clone(),
            choices: vec![ChunkChoice { index: 0, delta, finish_reason }],
            usage: None,
            baton: None,
        }
    }

    fn completion(self, text: String, done: Done) -> ChatCompletion {
        let Done { finish, usage, ran } = done;
        let (usage, baton): (Option<Usage>, Ran) = (usage, ran);
        let content = Some(Content::Text(text));
        let message = ChatMessage { role: Role::Assistant, content };
        ChatCompletion {
            id: self.id,
            object: "chat.completion".to_owned(),
            created: self.created,
            model: self.model,
            choices: vec![Choice { index: 0, message, finish_reason: finish }],
            usage,
            baton,
        }
    }
}

/// Waits for a whole answer.
pub async fn whole(mut run: Run) -> Result<ChatCompletion, AgentsError> {
    let shape = Shape::of(&run, false);
    let mut said = String::new();
    while let Some(event) = run.events.recv().await {
        match event {
            RunEvent::Text(text) => said.push_str(&text),
            RunEvent::End(done) => return Ok(shape.completion(said, (*done)?)),
        }
    }
    Err(LiveError::Stopping.into())
}

/// A problem in OpenAI's shape.
pub fn failure(problem: &Problem) -> ChatError {
    let kind = match (problem.code, problem.status) {
        (ErrorCode::TooManyRequests, _) => "rate_limit_error",
        (ErrorCode::Unauthenticated, _) => "authentication_error",
        (ErrorCode::Forbidden, _) => "permission_error",
        (_, 400..=499) => "invalid_request_error",
        _ => "server_error",
    };
    let message = match &problem.hint {
        Some(hint) => format!("{} ({hint})", problem.detail),
        None => problem.detail.clone(),
    };
    let code = problem.code.as_str().to_owned();
    ChatError { error: ChatErrorBody { message, kind: kind.to_owned(), param: None, code } }
}
