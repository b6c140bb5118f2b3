//! `session_pass`

use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::{PassSession, Scope};
use baton_runtime::sessions;
use baton_session::AgentName;
use baton_store::clock;
use schemars::JsonSchema;
use serde::Deserialize;

/// Hands a session to another agent, which goes on in the same tabs; you can drive it no longer. To take one that another agent drives, name yourself and say why.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionPass {
    /// Default: the only active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    /// The agent that drives it from now on; without it nobody does
    #[schemars(with = "Option<String>")]
    to: Option<AgentName>,
    /// Needed when another agent drives it now
    reason: Option<String>,
}

impl Verb for SessionPass {
    const NAME: &'static str = "session_pass";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Drive).await?;
        let session = call.session(self.session_id).await?;
        let request = PassSession { to: self.to, reason: self.reason };
        let view = sessions::pass(&call.context, &call.caller, &session, &request).await?;
        let (told, data) = text::session(&view, clock::now());
        Ok(Answer::new(&told, data))
    }
}
