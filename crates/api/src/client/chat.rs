//! Agents that are asked as if they were models.

use super::error::ClientError;
use super::{Client, STREAM_LIMIT};
use crate::chat::{ChatCompletion, ChatError, ChatRequest};
use crate::code::ErrorCode;
use crate::problem::Problem;
use reqwest::Method;

impl Client {
    /// Asks an agent, and waits for its whole answer. Dropping the wait ends the agent.
    pub async fn ask_agent(&self, request: &ChatRequest) -> Result<ChatCompletion, ClientError> {
        let call = self.request(Method::POST, &["v1", "chat", "completions"])?;
        let response = call.timeout(STREAM_LIMIT).json(request).send().await;
        let response = response.map_err(|source| self.unreachable(source))?;
        let status = response.status();
        let body = response.bytes().await.map_err(|source| self.unreachable(source))?;
        if status.is_success() {
            let not_understood =
                |source| ClientError::NotUnderstood { url: self.base.clone(), source };
            return serde_json::from_slice(&body).map_err(not_understood);
        }
        Err(match problem(&body) {
            Some(problem) => ClientError::Problem(Box::new(problem)),
            None => ClientError::NotANode { url: self.base.clone(), status: status.as_u16() },
        })
    }
}

/// A refusal in OpenAI's shape, in ours.
fn problem(body: &[u8]) -> Option<Problem> {
    let ChatError { error } = serde_json::from_slice(body).ok()?;
    let code = ErrorCode::ALL.iter().find(|code| code.as_str() == error.code)?;
    Some(Problem::new(*code, error.message))
}
