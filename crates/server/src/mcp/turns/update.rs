//! `federation_update`

use super::who;
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_federation::Operation;
use baton_runtime::board;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Says on the board what you do now. Do it when you begin, change or end something.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FederationUpdate {
    /// active, idle, standby …
    status: String,
    /// What you work on; without it nothing. No secrets
    task: Option<String>,
    /// Your folder
    workspace: Option<String>,
    /// Your model
    model: Option<String>,
    /// Your name; default: the client's
    agent: Option<String>,
}

impl Verb for FederationUpdate {
    const NAME: &'static str = "federation_update";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Drive).await?;
        let agent = who::acts(&call, self.agent)?;
        let name = agent.to_string();
        let operation = Operation::UpdateAgent {
            agent,
            status: self.status,
            current_task: self.task,
            workspace: self.workspace,
            model: self.model,
        };
        let done = board::write(&call.context, &call.caller, operation).await?;
        let entry = done.board.as_ref().and_then(|board| board.agents.get(&name));
        Ok(Answer::new(&[format!("The board says what {name} does.")], json!({"agent": entry})))
    }
}
