//! `browser_sync_conflicts`

use super::peers::Peers;
use super::{differs, text};
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text::age;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_api::sync::{ConflictDetails, ConflictView, RevisionView};
use baton_session::RevisionId;
use baton_store::clock;
use baton_sync::SyncError;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// How many sessions are told.
const TOLD: usize = 20;
/// Of how many of them the revisions are compared; that reads all that they hold.
const COMPARED: usize = 5;

/// Lists sessions that were changed at two nodes at once, and how they differ.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Conflicts {}

impl Verb for Conflicts {
    const NAME: &'static str = "browser_sync_conflicts";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<Answer, Failure> {
        call.require(Scope::Sync).await?;
        let found = baton_sync::conflicts(&call.context, &call.caller).await?.items;
        let peers = Peers::known(&call).await?;
        let now = clock::now();
        let mut told = vec![match found.as_slice() {
            [] => "No conflicts.".to_owned(),
            _ => "The first revision of each counts now. Ask the user which one to keep, then \
                  browser_sync_resolve."
                .to_owned(),
        }];
        let mut items = Vec::new();
        for (at, one) in found.iter().take(TOLD).enumerate() {
            let details = if at < COMPARED { compare(&call, one).await? } else { None };
            told.extend(lines(one, details.as_ref(), &peers, now));
            items.push(data(one, details.as_ref()));
        }
        if found.len() > TOLD {
            told.push(format!("and {} more sessions", found.len() - TOLD));
        }
        Ok(Answer::new(&told, json!({"conflicts": items})))
    }
}

fn revisions(conflict: &ConflictView) -> impl Iterator<Item = &RevisionView> {
    std::iter::once(&conflict.current).chain(&conflict.siblings)
}

/// How the revisions differ; nothing when somebody has chosen meanwhile.
async fn compare(call: &Call, one: &ConflictView) -> Result<Option<ConflictDetails>, Failure> {
    let id = one.session_id.to_string();
    let found = Box::pin(baton_sync::conflict(&call.context, &call.caller, &id)).await;
    match found {
        Err(SyncError::NotShared { .. }) => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// A line for each revision, and below it what would change if it were kept.
fn lines(
    conflict: &ConflictView,
    details: Option<&ConflictDetails>,
    peers: &Peers,
    now: Timestamp,
) -> Vec<String> {
    let all: Vec<RevisionId> = revisions(conflict).map(|one| one.rev).collect();
    let lines = |one: &RevisionView| {
        let rev = text::revision(&one.rev, &all);
        let (by, age) = (peers.name(one.node_id), age(one.last_modified, now));
        let what = if one.deleted { "deletes it".to_owned() } else { text::size(one.size) };
        let line = format!("{} {rev} by {by} {age} ago, {what}", conflict.name);
        let below = differs::of(details, one.rev).map(differs::lines).unwrap_or_default();
        std::iter::once(line).chain(below)
    };
    revisions(conflict).flat_map(lines).collect()
}

fn data(conflict: &ConflictView, details: Option<&ConflictDetails>) -> Value {
    let rows: Vec<Value> = revisions(conflict)
        .map(|one| {
            json!({
                "rev": one.rev, "nodeId": one.node_id, "lastModified": one.last_modified,
                "size": one.size, "deleted": one.deleted,
                "changes": differs::of(details, one.rev).map(differs::data),
            })
        })
        .collect();
    json!({"sessionId": conflict.session_id, "name": conflict.name, "revisions": rows})
}
