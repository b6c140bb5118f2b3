//! `federation_add_task`

use super::{text, who};
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_federation::{Operation, Priority};
use baton_runtime::board;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Adds something to do to the board, for any agent or for one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct FederationAddTask {
    /// What is to be done. No secrets
    description: String,
    /// low, normal, high or urgent; default: normal
    priority: Option<String>,
    /// The only agent that may take it
    assigned_to: Option<String>,
    /// Tasks that must be done before
    #[serde(default)]
    after: Vec<String>,
    /// Your name; default: the client's
    agent: Option<String>,
}

impl Verb for FederationAddTask {
    const NAME: &'static str = "federation_add_task";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Drive).await?;
        let operation = Operation::AddTask {
            description: self.description,
            priority: Priority::from(self.priority.unwrap_or_else(|| "normal".to_owned())),
            agent: who::maybe(&call, self.agent)?,
            assigned_to: self.assigned_to.as_deref().map(who::parse).transpose()?,
            blocked_by: self.after,
        };
        let done = board::write(&call.context, &call.caller, operation).await?;
        let told: Vec<String> = done.task.iter().map(text::line).collect();
        Ok(Answer::new(&told, json!({"task": done.task})))
    }
}
