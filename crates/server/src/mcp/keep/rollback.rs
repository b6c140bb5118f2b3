//! `session_rollback`

use super::resume;
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::{RollBack, Scope};
use baton_runtime::sessions;
use schemars::JsonSchema;
use serde::Deserialize;

/// Resumes a session from an older snapshot, for instance from before a logout. Nothing is deleted:
/// an active one is saved first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionRollback {
    /// Default: the only active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
    /// A snapshot that session_history lists
    to: String,
}

impl Verb for SessionRollback {
    const NAME: &'static str = "session_rollback";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Drive).await?;
        let session = call.session(self.session_id).await?;
        let doing = format!("taking {} back", text::cut(&session, 100));
        let request = RollBack { to: self.to };
        let rolling = Box::pin(sessions::rollback(&call.context, &call.caller, &session, request));
        let (told, data) = resume::result(&call.progress.during(&doing, rolling).await?);
        Ok(Answer::new(&told, data))
    }
}
