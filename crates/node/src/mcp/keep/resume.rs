//! `session_resume`

use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use crate::{clock, sessions};
use baton_api::{ResumeResult, Scope};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// What a model does after a loss.
const TELL: &str = "Tell the user what was lost; check whether the site still knows them.";

/// Brings a session that is not active back, logged in, with its tabs. The receipt names what was
/// lost.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SessionResume {
    /// Name or id
    #[serde(alias = "session_id")]
    session_id: String,
}

impl Verb for SessionResume {
    const NAME: &'static str = "session_resume";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Drive).await?;
        let (told, data) = resume(&call, &self.session_id).await?;
        Ok(Answer::new(&told, data))
    }
}

/// Resumes a session, and tells what came back.
pub(in crate::mcp) async fn resume(
    call: &Call,
    session: &str,
) -> Result<(Vec<String>, Value), Failure> {
    let doing = format!("resuming {}", text::cut(session, 100));
    let resuming = Box::pin(sessions::resume(&call.context, &call.caller, session));
    Ok(result(&call.progress.during(&doing, resuming).await?))
}

/// What a resume or a rollback did.
pub(super) fn result(resumed: &ResumeResult) -> (Vec<String>, Value) {
    let view = &resumed.session;
    let (mut told, mut data) = text::session(view, clock::now());
    if let Some(receipt) = &view.receipt {
        let (lines, items) = text::receipt(receipt);
        told.push("Receipt:".to_owned());
        told.extend(lines);
        data["receipt"] = items;
        if receipt.has_losses() {
            told.push(TELL.to_owned());
        }
    }
    data["timing"] = json!(resumed.timing);
    told.push(text::next(view.session.state).to_owned());
    (told, data)
}
