//! `session_close`

use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_runtime::sessions;
use baton_store::clock;
use schemars::JsonSchema;
use serde::Deserialize;

/// Saves a session and ends its browser. session_resume can still bring it back.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionClose {
    /// Default: the only active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
}

impl Verb for SessionClose {
    const NAME: &'static str = "session_close";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Drive).await?;
        let session = call.session(self.session_id).await?;
        let doing = format!("closing {}", text::cut(&session, 100));
        let closing = Box::pin(sessions::close(&call.context, &call.caller, &session));
        let view = call.progress.during(&doing, closing).await?;
        let (told, data) = text::session(&view, clock::now());
        Ok(Answer::new(&told, data))
    }
}
