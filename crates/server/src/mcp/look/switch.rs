//! `session_debug`

use crate::mcp::answer::{Answer, Failure};
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::{Scope, SwitchDebug};
use baton_runtime::sessions;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Records network and console of a session's tabs from now on, or no longer. It makes pages slower.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionDebug {
    /// Default: the only active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    /// false: no longer, and forget what was recorded
    #[serde(default = "yes")]
    on: bool,
}

fn yes() -> bool {
    true
}

impl Verb for SessionDebug {
    const NAME: &'static str = "session_debug";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Drive).await?;
        let session = call.session(self.session_id).await?;
        let switch = SwitchDebug { on: self.on, reveal: false };
        sessions::debug(&call.context, &call.caller, &session, switch).await?;
        let told = if self.on {
            format!(
                "{session} is recorded. browser_debug_list_tabs lists its tabs; what they did before is not known."
            )
        } else {
            format!("{session} is no longer recorded.")
        };
        Ok(Answer::new(&[told], json!({"session": session, "debug": self.on})))
    }
}
