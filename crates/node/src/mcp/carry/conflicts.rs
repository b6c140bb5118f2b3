//! `browser_sync_conflicts`

use super::peers::Peers;
use super::text;
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text::age;
use crate::mcp::verb::{Call, Effect, Verb};
use crate::{clock, sync};
use baton_api::Scope;
use baton_api::sync::{ConflictView, RevisionView};
use baton_session::RevisionId;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// How many sessions are told.
const TOLD: usize = 20;

/// Lists sessions that were changed at two nodes at once, and their revisions.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Conflicts {}

impl Verb for Conflicts {
    const NAME: &'static str = "browser_sync_conflicts";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Sync).await?;
        let found = sync::conflicts(&call.context, &call.caller).await?.items;
        let peers = Peers::of(&call).await?;
        let now = clock::now();
        let mut told = vec![match found.as_slice() {
            [] => "No conflicts.".to_owned(),
            _ => "The first revision of each counts now. Ask the user which one to keep, then \
                  browser_sync_resolve."
                .to_owned(),
        }];
        told.extend(found.iter().take(TOLD).flat_map(|one| lines(one, &peers, now)));
        if found.len() > TOLD {
            told.push(format!("and {} more sessions", found.len() - TOLD));
        }
        let items: Vec<Value> = found.iter().take(TOLD).map(data).collect();
        Ok(Answer::new(&told, json!({"conflicts": items})))
    }
}

fn revisions(conflict: &ConflictView) -> impl Iterator<Item = &RevisionView> {
    std::iter::once(&conflict.current).chain(&conflict.siblings)
}

/// A line for each revision.
fn lines(conflict: &ConflictView, peers: &Peers, now: Timestamp) -> Vec<String> {
    let all: Vec<RevisionId> = revisions(conflict).map(|one| one.rev).collect();
    let line = |one: &RevisionView| {
        let rev = text::revision(&one.rev, &all);
        let (by, age) = (peers.name(one.node_id), age(one.last_modified, now));
        let what = if one.deleted { "deletes it".to_owned() } else { text::size(one.size) };
        format!("{} {rev} by {by} {age} ago, {what}", conflict.name)
    };
    revisions(conflict).map(line).collect()
}

fn data(conflict: &ConflictView) -> Value {
    let rows: Vec<Value> = revisions(conflict)
        .map(|one| {
            json!({
                "rev": one.rev, "nodeId": one.node_id, "lastModified": one.last_modified,
                "size": one.size, "deleted": one.deleted,
            })
        })
        .collect();
    json!({"sessionId": conflict.session_id, "name": conflict.name, "revisions": rows})
}
