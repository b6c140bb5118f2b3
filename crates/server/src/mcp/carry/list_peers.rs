//! `browser_sync_list_peers`

use super::peers::{Peers, command, limits, waits_there};
use super::text;
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text::age;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_api::sync::PeerStatus;
use baton_store::clock;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Lists the other Baton nodes with which sessions are exchanged, and whether they answer.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListPeers {}

impl Verb for ListPeers {
    const NAME: &'static str = "browser_sync_list_peers";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Sync).await?;
        let peers = Peers::of(&call).await?;
        let now = clock::now();
        let mut told = vec![match peers.all() {
            [] => "No peers. browser_sync_register_peer registers one.".to_owned(),
            _ => "nodeId state status lastSync".to_owned(),
        }];
        let mut rows = Vec::new();
        for peer in peers.all() {
            let (name, synced) = (text::plain(&peer.name), peer.last_sync.map(|at| age(at, now)));
            let status = status(peer.status);
            let last = synced.as_deref().unwrap_or("never");
            let next = command(peer).map(|command| format!(" (the user types: {command})"));
            let next = next.unwrap_or_default();
            let there = waits_there(peer);
            let waits = there.as_ref().map(|told| format!(" ({told})")).unwrap_or_default();
            let limits = limits(peer);
            let limited = limits.as_ref().map(|told| format!(" {told}")).unwrap_or_default();
            told.push(format!("{name} {} {status} {last}{next}{waits}{limited}", peer.state));
            rows.push(json!([name, peer.state, status, synced, peer.node_id, limits, there]));
        }
        let columns = ["name", "state", "status", "lastSync", "nodeId", "limits", "pendingThere"];
        Ok(Answer::new(&told, json!({"columns": columns, "rows": rows})))
    }
}

fn status(status: PeerStatus) -> &'static str {
    match status {
        PeerStatus::Online => "online",
        PeerStatus::Offline => "offline",
        PeerStatus::Unknown => "unknown",
    }
}
