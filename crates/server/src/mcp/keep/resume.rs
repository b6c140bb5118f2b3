//! `session_resume`

use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::sync::{HandedView, Handing};
use baton_api::{ResumeResult, Scope};
use baton_runtime::sessions;
use baton_store::clock;
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

/// How a session came from the node that held it.
fn came(HandedView { name, how, .. }: &HandedView) -> String {
    let name = text::cut(name, 100);
    match how {
        Handing::HandedOver => {
            format!("{name} saved it and handed it over: it does not run there any more.")
        }
        Handing::TakenOver => format!(
            "{name} held it and does not answer: taken over as it was saved last. Tell the user: what was \
             done there since is not in it."
        ),
    }
}

/// What a resume or a rollback did.
pub(super) fn result(resumed: &ResumeResult) -> (Vec<String>, Value) {
    let view = &resumed.session;
    let (mut told, mut data) = text::session(view, clock::now());
    if let Some(handed) = &resumed.handed {
        told.push(came(handed));
        data["handed"] = json!(handed);
    }
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

#[cfg(test)]
mod tests {
    use super::result;
    use serde_json::json;

    #[test]
    fn it_is_told_that_another_node_had_the_session() {
        let told = ["handed_over", "taken_over"].map(|how| {
            let node = "0197c0de-0000-8000-8000-000000000001";
            let resumed = json!({
                "id": "0197c0de-5100-7000-8000-000000000002", "name": "shop", "description": "",
                "owner": "local", "node": node, "headed": false, "state": "active",
                "created_at": "2026-03-01T12:00:00Z", "updated_at": "2026-03-01T12:00:00Z",
                "tabs": [], "timing": {},
                "handed": {"node_id": node, "name": "cloud", "how": how},
            });
            let (told, data) = result(&serde_json::from_value(resumed).unwrap());
            assert_eq!(data["handed"]["how"], how);
            told[1].clone()
        });
        insta::assert_snapshot!(told.join("\n"), @r"
        cloud saved it and handed it over: it does not run there any more.
        cloud held it and does not answer: taken over as it was saved last. Tell the user: what was done there since is not in it.
        ");
    }
}
