//! `browser_sync_resume_session`

use super::find;
use super::peers::{Peers, at_once, silent};
use super::text::{self, Way};
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::keep;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_api::sync::{Difference, DifferenceList};
use baton_session::{SessionId, SessionName};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Resumes a session here, with what is newest of it at this node and its peers.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ResumeSession {
    /// Name or id
    #[serde(alias = "session_id")]
    session_id: String,
    /// A peer's name or id; default: whoever has something newer
    #[serde(alias = "source_node_id")]
    source_node_id: Option<String>,
}

impl Verb for ResumeSession {
    const NAME: &'static str = "browser_sync_resume_session";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Sync).await?;
        call.require(Scope::Drive).await?;
        let peers = Peers::known(&call).await?;
        let named = self.source_node_id.as_deref();
        let (lists, mut told) = ask(&call, &peers, named).await?;
        let (id, name) = self.find(&call, &lists).await?;
        let mut moved = Vec::new();
        for list in lists.iter().filter(|list| has_newer(list, id)) {
            let (peer, id) = (list.node_id.to_string(), id.to_string());
            let came = Box::pin(Way::Pull.whole(&call, &peer, &id, name.as_str())).await?;
            let peer = peers.name(list.node_id);
            told.push(text::movement(Way::Pull, &came, &peer));
            moved.push(text::movement_data(&came, &peer));
        }
        let (lines, mut data) = keep::resume(&call, &id.to_string()).await?;
        told.extend(lines);
        data["moved"] = json!(moved);
        Ok(Answer::new(&told, data))
    }
}

impl ResumeSession {
    /// The session that is meant: of those that this node and its peers have, else of this node's alone.
    async fn find(
        &self,
        call: &Call,
        lists: &[DifferenceList],
    ) -> Result<(SessionId, SessionName), Failure> {
        let items = lists.iter().flat_map(|list| &list.items).filter(|item| !item.deleted);
        let known = items.map(|item| (item.session_id, item.name.clone()));
        match find::session(known, &self.session_id) {
            Err(at_peers) => match call.context.find(&call.caller.owner, &self.session_id).await {
                Ok(here) => Ok((here.id, here.name)),
                Err(_) => Err(at_peers),
            },
            found => found,
        }
    }
}

/// How sessions stand at the peers that are asked. One that was named has to answer; of all, those
/// that do not are told.
async fn ask(
    call: &Call,
    peers: &Peers,
    named: Option<&str>,
) -> Result<(Vec<DifferenceList>, Vec<String>), Failure> {
    let (mut lists, mut told) = (Vec::new(), Vec::new());
    let asked = peers.asked(named);
    let asking =
        asked.iter().map(|peer| baton_sync::differences(&call.context, &call.caller, peer));
    let said = at_once(call, asking.collect()).await;
    for (peer, said) in asked.iter().zip(said) {
        let name = peers.name_of(peer);
        match said {
            Ok(list) => lists.push(list),
            Err(error) if named.is_some() => return Err(error.into()),
            Err(error) => told.push(silent(&name, &error)),
        }
    }
    Ok((lists, told))
}

fn has_newer(list: &DifferenceList, id: SessionId) -> bool {
    let newer = [Difference::Behind, Difference::Diverged];
    list.items.iter().any(|item| item.session_id == id && newer.contains(&item.difference))
}
