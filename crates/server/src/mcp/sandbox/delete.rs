//! `sandbox_delete`

use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_agents::sandboxes;
use baton_api::Scope;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Ends a sandbox with its files, and writes back the session that it has.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SandboxDelete {
    #[serde(alias = "sandbox_id")]
    sandbox_id: String,
}

impl Verb for SandboxDelete {
    const NAME: &'static str = "sandbox_delete";
    const EFFECT: Effect = Effect::Destroys;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Sandbox).await?;
        let ending =
            Box::pin(sandboxes::delete(&call.context.agents, &call.caller, &self.sandbox_id));
        let ended = call.progress.during("ending the sandbox", ending).await?;
        let mut told = vec![match &ended.browser_session {
            None => "The sandbox has ended.".to_owned(),
            Some(written) => match (&written.snapshot, &written.reason) {
                (Some(_), _) if written.shrunk => "The sandbox has ended. Its session lost more than half of what it held: session_resume takes the snapshot before.".to_owned(),
                (Some(_), None) => "The sandbox has ended, and its session is written back.".to_owned(),
                (_, why) => format!(
                    "The sandbox has ended. Its session is as it was before: {}",
                    why.as_deref().unwrap_or("nothing could be read")
                ),
            },
        }];
        let written = ended.browser_session.as_ref();
        let data = json!({
            "sandboxId": ended.id,
            "sessionId": written.map(|written| written.session_id),
            "snapshot": written.and_then(|written| written.snapshot),
        });
        let left_out = written.map(|written| &written.left_out);
        let left_out = left_out.filter(|left_out| !left_out.items.is_empty());
        told.extend(left_out.into_iter().flat_map(|left_out| text::receipt(left_out).0));
        Ok(Answer::new(&told, data))
    }
}
