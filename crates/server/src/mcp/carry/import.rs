//! `browser_sync_import_session`

use super::find;
use super::peers::Peers;
use super::text::{self, Way};
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::keep;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_api::sync::MovementOutcome;
use schemars::JsonSchema;
use serde::Deserialize;

/// Brings a session from a peer to this node.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ImportSession {
    /// A peer's name or id
    #[serde(alias = "node_id")]
    node_id: String,
    /// Name or id
    #[serde(alias = "session_id")]
    session_id: String,
    /// Start its browser too
    #[serde(default)]
    resume: bool,
}

impl Verb for ImportSession {
    const NAME: &'static str = "browser_sync_import_session";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Sync).await?;
        if self.resume {
            call.require(Scope::Drive).await?;
        }
        let asking = baton_sync::remote_index(&call.context, &call.caller, &self.node_id);
        let index = call.progress.during("asking the peer", asking).await?;
        let there = index.sessions.into_iter().filter(|session| !session.deleted);
        let known = there.map(|session| (session.id, session.name));
        let (id, name) = find::session(known, &self.session_id)?;
        let id = id.to_string();
        let moved = Box::pin(Way::Pull.whole(&call, &self.node_id, &id, name.as_str())).await?;
        let peer = Peers::known(&call).await?.name(moved.node_id);
        let mut told = vec![text::movement(Way::Pull, &moved, &peer)];
        let mut data = text::movement_data(&moved, &peer);
        let is_whole = moved.outcome != MovementOutcome::Unfinished;
        if self.resume && is_whole {
            let resumed = keep::resume(&call, &id).await?;
            told.extend(resumed.0);
            data["resumed"] = resumed.1;
        } else if is_whole {
            told.push(format!("session_resume with sessionId {} starts its browser.", moved.name));
        }
        Ok(Answer::new(&told, data))
    }
}
