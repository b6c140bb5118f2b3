//! `federation_finish_task`

use super::{text, who};
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_federation::{Held, Operation};
use baton_runtime::board;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Says that a task that you claimed is done, or gives it back.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct FederationFinishTask {
    /// Which task
    #[serde(alias = "task_id")]
    task_id: String,
    /// Give it back instead
    #[serde(default)]
    release: bool,
    /// The claim's fence: you are told if another agent took the task since
    fence: Option<u64>,
    /// Your name; default: the client's
    agent: Option<String>,
}

impl Verb for FederationFinishTask {
    const NAME: &'static str = "federation_finish_task";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Drive).await?;
        let agent = who::acts(&call, self.agent)?;
        let held = Held { agent, task: self.task_id, fence: self.fence };
        let operation =
            if self.release { Operation::ReleaseTask(held) } else { Operation::CompleteTask(held) };
        let done = board::write(&call.context, &call.caller, operation).await?;
        let told: Vec<String> = done.task.iter().map(text::line).collect();
        Ok(Answer::new(&told, json!({"task": done.task})))
    }
}
