//! `session_capture`

use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_runtime::sessions;
use baton_store::clock;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Saves an active session's state now, on disk when this answers. Call it after a login; other
/// changes are saved by themselves.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionCapture {
    /// Default: the only active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
}

impl Verb for SessionCapture {
    const NAME: &'static str = "session_capture";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Drive).await?;
        let session = call.session(self.session_id).await?;
        let found = call.context.find(&call.caller.owner, &session).await?;
        let (id, name) = (found.id, found.name.clone());
        let capturing = sessions::capture(&call.context, &call.caller, found);
        let view = call.progress.during(&format!("capturing {name}"), capturing).await?;
        let mut told = vec![format!("Saved {name}: {}.", text::snapshot(&view, clock::now()))];
        told.extend(text::unread(&view));
        let data = json!({"sessionId": id, "snapshot": view.id, "unread": view.unread});
        Ok(Answer::new(&told, data))
    }
}
