//! `browser_sync_resolve`

use super::text;
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_api::sync::ResolveConflict;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Ends the conflict of a session: the revision to keep counts from now on, the others end.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Resolve {
    /// Name or id
    #[serde(alias = "session_id")]
    session_id: String,
    /// A revision that browser_sync_conflicts lists
    keep: String,
}

impl Verb for Resolve {
    const NAME: &'static str = "browser_sync_resolve";
    const EFFECT: Effect = Effect::Destroys;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Sync).await?;
        let request = ResolveConflict { keep: self.keep };
        let (context, caller) = (&call.context, &call.caller);
        let resolving = Box::pin(baton_sync::resolve(context, caller, &self.session_id, request));
        let view = call.progress.during("resolving the conflict", resolving).await?;
        let (name, rev) = (&view.name, text::revision(&view.current.rev, &[]));
        let told = [
            format!("Revision {rev} of {name} counts from now on."),
            "Peers hear of it when sessions move the next time.".to_owned(),
        ];
        let data = json!({"sessionId": view.session_id, "name": name, "rev": view.current.rev});
        Ok(Answer::new(&told, data))
    }
}
