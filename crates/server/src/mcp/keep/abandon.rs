//! `session_abandon`

use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_runtime::sessions;
use baton_store::clock;
use schemars::JsonSchema;
use serde::Deserialize;

/// Ends a session without saving what came after its last snapshot, and removes its browser profile.
/// The user is asked first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionAbandon {
    /// Name or id
    #[serde(alias = "session_id")]
    session_id: String,
}

impl Verb for SessionAbandon {
    const NAME: &'static str = "session_abandon";
    const EFFECT: Effect = Effect::Destroys;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Drive).await?;
        let Call { context, caller, confirm, .. } = call;
        let session = context.find(&caller.owner, &self.session_id).await?;
        let (id, name) = (session.id, session.name.clone());
        let what = format!(
            "Abandon session {name}? What happened since its last snapshot is lost, and its browser \
             profile is removed."
        );
        confirm.ask(id, what, format!("baton sessions abandon {name}")).await?;
        let view = sessions::abandon(&context, &caller, session).await?;
        let (told, data) = text::session(&view, clock::now());
        Ok(Answer::new(&told, data))
    }
}
