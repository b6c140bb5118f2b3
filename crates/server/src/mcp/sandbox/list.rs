//! `sandbox_list`

use crate::mcp::answer::{Answer, Failure};
use crate::mcp::verb::{Call, Effect, Verb};
use baton_agents::sandboxes;
use baton_api::Scope;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Lists your sandboxes at this node.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SandboxList {}

impl Verb for SandboxList {
    const NAME: &'static str = "sandbox_list";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Sandbox).await?;
        let list = sandboxes::list(&call.context.agents, &call.caller);
        let mut told = vec![match list.items.len() {
            0 => "No sandboxes. sandbox_create makes one.".to_owned(),
            _ => "sandboxId session ends".to_owned(),
        }];
        let mut rows = Vec::new();
        for view in &list.items {
            let handed = view.browser_session.as_ref();
            let session = match handed {
                Some(handed) => {
                    handed.name.as_ref().map_or_else(|| "inline".to_owned(), ToString::to_string)
                }
                None => "none".to_owned(),
            };
            told.push(format!("{} {session} {}", view.id, view.expires_at));
            rows.push(json!([view.id, session, view.expires_at]));
        }
        Ok(Answer::new(&told, json!({ "sandboxes": rows })))
    }
}
