//! `federation_claim_task`

use super::{text, who};
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_federation::Operation;
use baton_runtime::board;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Takes a task; exactly one agent gets it. Without taskId the best that is free. Keep the fence that is answered.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct FederationClaimTask {
    /// Which task
    #[serde(alias = "task_id")]
    task_id: Option<String>,
    /// Your name; default: the client's
    agent: Option<String>,
}

impl Verb for FederationClaimTask {
    const NAME: &'static str = "federation_claim_task";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Drive).await?;
        let agent = who::acts(&call, self.agent)?;
        let operation = Operation::ClaimTask { agent, task: self.task_id };
        let done = board::write(&call.context, &call.caller, operation).await?;
        let told: Vec<String> = done.task.iter().map(text::line).collect();
        Ok(Answer::new(&told, json!({"task": done.task})))
    }
}
