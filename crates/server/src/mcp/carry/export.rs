//! `browser_sync_export_session`

use super::peers::Peers;
use super::save::save;
use super::text::{self, Way};
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_api::sync::SaveSession;
use schemars::JsonSchema;
use serde::Deserialize;

/// Saves a session and gives it to a peer, where it can be resumed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ExportSession {
    /// A peer's name or id
    #[serde(alias = "node_id")]
    node_id: String,
    /// What the session is called from now on
    name: String,
    description: Option<String>,
    /// Default: the only active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
}

impl Verb for ExportSession {
    const NAME: &'static str = "browser_sync_export_session";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Sync).await?;
        let session = call.session(self.session_id).await?;
        let name = super::save::name(&self.name)?;
        let request =
            SaveSession { name: Some(name), description: self.description, sync_to_peers: false };
        let saved = save(&call, &session, request).await?;
        let id = saved.id.to_string();
        let moved =
            Box::pin(Way::Push.whole(&call, &self.node_id, &id, saved.name.as_str())).await?;
        let peer = Peers::known(&call).await?.name(moved.node_id);
        let told = [text::movement(Way::Push, &moved, &peer)];
        Ok(Answer::new(&told, text::movement_data(&moved, &peer)))
    }
}
