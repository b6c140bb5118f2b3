//! Conflicts of sessions that were changed at two nodes at once: listed, compared, and ended.
//!
//! What the choice of a revision would change is shown by site and kind: counts and names, never a value.

use super::peers::Peers;
use super::text;
use crate::mcp::answer::{Failure, ToolAnswer};
use crate::mcp::text::age;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_api::sync::{
    ConflictDetails, ConflictView, ResolveConflict, RevisionDifference, RevisionView,
};
use baton_session::RevisionId;
use baton_session::diff::SiteDiff;
use baton_store::clock;
use baton_sync::SyncError;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// How many sessions are listed.
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

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
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
        Ok(ToolAnswer::new(&told, json!({"conflicts": items})))
    }
}

fn revisions(conflict: &ConflictView) -> impl Iterator<Item = &RevisionView> {
    std::iter::once(&conflict.current).chain(&conflict.siblings)
}

/// How the revisions differ; nothing when a person has chosen meanwhile.
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
        let below = difference_of(details, one.rev).map(difference_lines).unwrap_or_default();
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
                "changes": difference_of(details, one.rev).map(difference_data),
            })
        })
        .collect();
    json!({"sessionId": conflict.session_id, "name": conflict.name, "revisions": rows})
}

/// How many sites and kinds of a revision are listed.
const LINES: usize = 10;
/// How many names of each.
const NAMES: usize = 5;

/// How a sibling differs from the revision that counts.
fn difference_of(
    details: Option<&ConflictDetails>,
    rev: RevisionId,
) -> Option<&RevisionDifference> {
    details?.differences.iter().find(|difference| difference.rev == rev)
}

/// What becomes of the session when the sibling is kept, a line for each site and kind. Nothing where
/// one of the two deletes the session.
fn difference_lines(difference: &RevisionDifference) -> Vec<String> {
    if let Some(why) = &difference.unreadable {
        return vec![format!("  cannot be compared: {}", text::plain(why))];
    }
    let mut told: Vec<String> = difference.sites.iter().take(LINES).map(difference_line).collect();
    let more = difference.sites.len().saturating_sub(LINES);
    if more > 0 {
        told.push(format!("  and {more} more"));
    }
    told
}

fn difference_line(one: &SiteDiff) -> String {
    let site = one.site.as_ref().map_or("no site", |site| site.as_str());
    let counts = [(one.added, "added"), (one.removed, "removed"), (one.changed, "changed")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    let names: Vec<String> = one.names.iter().take(NAMES).map(|name| text::plain(name)).collect();
    let (kind, counts) = (one.kind.to_string().replace('_', " "), counts.join(", "));
    let told = format!("  keeping it changes {} {kind}: {counts}", text::plain(site));
    let rest = if one.names.len() > NAMES { ", …" } else { "" };
    if names.is_empty() { told } else { format!("{told} ({}{rest})", names.join(", ")) }
}

/// The same for programs; null where nothing was compared.
fn difference_data(difference: &RevisionDifference) -> Value {
    match &difference.unreadable {
        Some(why) => json!({"unreadable": text::plain(why)}),
        None => json!(difference.sites),
    }
}

/// Ends the conflict of a session: the revision to keep counts from now on, the others end.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Resolve {
    /// Name or id
    #[serde(alias = "session_id")]
    session_id: String,
    /// A revision that browser_sync_conflicts lists
    keep: String,
}

impl Verb for Resolve {
    const NAME: &'static str = "browser_sync_resolve";
    const EFFECT: Effect = Effect::Destroys;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Sync).await?;
        let request = ResolveConflict { keep: self.keep };
        let (context, caller) = (&call.context, &call.caller);
        let resolving = Box::pin(baton_sync::resolve(context, caller, &self.session_id, request));
        let view = call.progress.during("resolving the conflict", resolving).await?;
        let (name, rev) = (&view.name, text::revision(&view.current.rev, &[]));
        let told = [
            format!("Revision {rev} of {name} counts from now on."),
            "Peers hear of it when sessions move the next time.".to_owned(),
        ];
        let data = json!({"sessionId": view.session_id, "name": name, "rev": view.current.rev});
        Ok(ToolAnswer::new(&told, data))
    }
}
