//! `browser_save_profile`

use super::peers::Peers;
use super::text::{self, Way};
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_api::sync::{SaveSession, SavedView};
use baton_session::SessionName;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// Saves a session for good, under a name, so that it can move to peers.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SaveProfile {
    /// What it is called from now on
    name: String,
    description: Option<String>,
    /// Move it to every peer now
    #[serde(default, alias = "sync_to_peers")]
    sync_to_peers: bool,
    /// Default: the only active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
}

impl Verb for SaveProfile {
    const NAME: &'static str = "browser_save_profile";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Sync).await?;
        let session = call.session(self.session_id).await?;
        let (name, description) = (Some(name(&self.name)?), self.description);
        let request = SaveSession { name, description, sync_to_peers: self.sync_to_peers };
        let saved = save(&call, &session, request).await?;
        let peers = Peers::known(&call).await?;
        Ok(answer(&saved, &peers))
    }
}

/// The name of a session, as a model gave it.
pub(super) fn name(given: &str) -> Result<SessionName, Failure> {
    given.parse().map_err(|error| Failure::Arguments(format!("name: {error}")))
}

/// Saves a session, and says meanwhile that it does.
pub(super) async fn save(
    call: &Call,
    session: &str,
    request: SaveSession,
) -> Result<SavedView, Failure> {
    let doing = format!("saving {}", text::plain(session));
    let saving = Box::pin(baton_sync::save(&call.context, &call.caller, session, request));
    Ok(call.progress.during(&doing, saving).await?)
}

fn answer(saved: &SavedView, peers: &Peers) -> Answer {
    let (name, rev) = (&saved.name, text::revision(&saved.rev, &[]));
    let mut told = vec![if saved.unchanged {
        format!("{name} was saved as it is already: revision {rev}.")
    } else {
        format!("Saved {name}: revision {rev}.")
    }];
    let mut pushed: Vec<Value> = Vec::new();
    for moved in &saved.pushed {
        let peer = peers.name(moved.node_id);
        told.push(text::movement(Way::Push, moved, &peer));
        pushed.push(text::movement_data(moved, &peer));
    }
    let mut failed = Vec::new();
    for one in &saved.failed {
        let (peer, reason) = (text::plain(&one.peer), text::plain(&one.reason));
        told.push(format!("It did not reach {peer}: {reason}"));
        failed.push(json!({"peer": peer, "reason": reason}));
    }
    for left in saved.left_out.losses() {
        let (place, why) = (&left.place, left.reason.as_deref().unwrap_or_default());
        told.push(text::plain(&format!("Not in it: {} {place}: {why}", left.kind)));
    }
    if !saved.conflicts.is_empty() {
        told.push("In conflict: browser_sync_conflicts lists what to choose from.".to_owned());
    }
    let data = json!({
        "sessionId": saved.id, "name": name, "rev": saved.rev, "unchanged": saved.unchanged,
        "conflicts": saved.conflicts, "pushed": pushed, "failed": failed,
    });
    Answer::new(&told, data)
}
