//! Which sessions are saved, here and at peers, and their conflicts: sessions that were changed at two nodes
//! at once, listed, compared, and ended.
//!
//! What the choice of a revision would change is shown by site and kind: counts and names, never a value.

use super::peers::{Peers, at_once, silent as why_silent};
use crate::mcp::answer::{Failure, ToolAnswer, age};
use crate::mcp::carry;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_api::sync::{
    ConflictDetails, ConflictView, Difference, DifferenceList, IndexedSession, ResolveConflict,
    RevisionDifference, RevisionView,
};
use baton_session::diff::SiteDiff;
use baton_session::{RevisionId, SessionId};
use baton_store::clock;
use baton_sync::SyncError;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How many sessions are listed.
const TOLD: usize = 100;

/// Lists the sessions that are saved here, and which peers have them too.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListProfiles {}

/// Where a session is beside here.
#[derive(Default)]
struct Elsewhere {
    /// Peers that have it.
    at: Vec<String>,
    /// Whether all that have it have the same.
    differs: bool,
}

impl Verb for ListProfiles {
    const NAME: &'static str = "browser_list_profiles";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Sync).await?;
        let index = baton_sync::index(&call.context, &call.caller).await?;
        let is_here = |session: &&IndexedSession| !session.deleted;
        let mut here: Vec<IndexedSession> =
            index.sessions.iter().filter(is_here).cloned().collect();
        here.sort_by_key(|session| std::cmp::Reverse(session.last_modified));
        let peers = Peers::known(&call).await?;
        let mut elsewhere: BTreeMap<SessionId, Elsewhere> = BTreeMap::new();
        let mut silent = Vec::new();
        let asked = peers.asked(None);
        let asking =
            asked.iter().map(|peer| baton_sync::differences(&call.context, &call.caller, peer));
        let said = at_once(&call, asking.collect()).await;
        for (peer, said) in asked.iter().zip(said) {
            let name = peers.name_of(peer);
            match said {
                Ok(list) => note(&mut elsewhere, &name, &list),
                Err(error) => {
                    let told = why_silent(&name, &error);
                    silent.push((name, told));
                }
            }
        }
        for peer in peers.asking() {
            let held = baton_sync::peers::held(&call.context, &call.caller, peer.node_id).await?;
            let name = carry::plain(&peer.name);
            for session in &here {
                let Some(rev) = held.get(&session.id) else { continue };
                let known = elsewhere.entry(session.id).or_default();
                known.at.push(name.clone());
                known.differs |= *rev != session.rev;
            }
        }
        Ok(answer(&here, &elsewhere, &silent))
    }
}

/// Notes which sessions a peer has.
fn note(elsewhere: &mut BTreeMap<SessionId, Elsewhere>, peer: &str, list: &DifferenceList) {
    for item in list.items.iter().filter(|item| item.there) {
        let known = elsewhere.entry(item.session_id).or_default();
        known.at.push(peer.to_owned());
        known.differs |= item.difference != Difference::Same;
    }
}

fn answer(
    here: &[IndexedSession],
    elsewhere: &BTreeMap<SessionId, Elsewhere>,
    silent: &[(String, String)],
) -> ToolAnswer {
    let now = clock::now();
    let mut told = vec![match here {
        [] => "No saved sessions. browser_save_profile saves one.".to_owned(),
        _ => "sessionId saved synced availableOn".to_owned(),
    }];
    let mut rows = Vec::new();
    for session in here.iter().take(TOLD) {
        let known = elsewhere.get(&session.id);
        let at = known.map(|known| known.at.as_slice()).unwrap_or_default();
        let synced = known.is_some_and(|known| !known.differs);
        let (name, age) = (&session.name, age(session.last_modified, now));
        let word = if synced { "yes" } else { "no" };
        let shown = if at.is_empty() { "this node only".to_owned() } else { at.join(", ") };
        told.push(format!("{name} {age} {word} {shown}"));
        rows.push(json!({
            "sessionId": session.id, "name": name, "lastModified": session.last_modified,
            "synced": synced, "availableOn": at, "conflicts": session.conflicts.len(),
        }));
    }
    if here.len() > TOLD {
        told.push(format!("and {} older ones", here.len() - TOLD));
    }
    told.extend(silent.iter().map(|(_, told)| told.clone()));
    let silent: Vec<_> = silent.iter().map(|(peer, _)| peer).collect();
    ToolAnswer::new(&told, json!({"profiles": rows, "silent": silent}))
}

/// How many sessions are listed of all peers together.
const TOLD_OF_PEERS: usize = 100;

/// Lists the sessions that are saved at peers, newest first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ListRemoteSessions {
    /// A peer's name or id; default: all
    #[serde(alias = "node_id")]
    node_id: Option<String>,
}

impl Verb for ListRemoteSessions {
    const NAME: &'static str = "browser_sync_list_remote_sessions";
    const EFFECT: Effect = Effect::Reads;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Sync).await?;
        let peers = Peers::known(&call).await?;
        let asked = peers.asked(self.node_id.as_deref());
        let mut found: Vec<(String, IndexedSession)> = Vec::new();
        let mut silent = Vec::new();
        let asking =
            asked.iter().map(|peer| baton_sync::remote_index(&call.context, &call.caller, peer));
        let said = at_once(&call, asking.collect()).await;
        for (peer, said) in asked.iter().zip(said) {
            let name = peers.name_of(peer);
            match said {
                Ok(index) => {
                    let there = index.sessions.into_iter().filter(|session| !session.deleted);
                    found.extend(there.map(|session| (name.clone(), session)));
                }
                // The one that was asked for has to answer.
                Err(error) if self.node_id.is_some() => return Err(error.into()),
                Err(error) => {
                    let told = why_silent(&name, &error);
                    silent.push((name, told));
                }
            }
        }
        found.sort_by_key(|(_, session)| std::cmp::Reverse(session.last_modified));
        Ok(answer_of_peers((&asked, &peers), &found, &silent))
    }
}

fn answer_of_peers(
    (asked, peers): (&[String], &Peers),
    found: &[(String, IndexedSession)],
    silent: &[(String, String)],
) -> ToolAnswer {
    let now = clock::now();
    let mut told = vec![match (asked, found) {
        ([], _) => peers.nobody(),
        (_, []) => "No sessions.".to_owned(),
        _ => "name nodeId changed size sessionId".to_owned(),
    }];
    let mut rows = Vec::new();
    for (peer, session) in found.iter().take(TOLD_OF_PEERS) {
        let (name, id) = (&session.name, session.id);
        let (age, size) = (age(session.last_modified, now), carry::size(session.size));
        told.push(format!("{name} {peer} {age} {size} {id}"));
        rows.push(json!([name, peer, age, session.size, id]));
    }
    if found.len() > TOLD_OF_PEERS {
        told.push(format!("and {} older ones; nodeId shows fewer", found.len() - TOLD_OF_PEERS));
    }
    told.extend(silent.iter().map(|(_, told)| told.clone()));
    let silent: Vec<_> = silent.iter().map(|(peer, _)| peer).collect();
    let columns = ["name", "nodeId", "changed", "size", "sessionId"];
    ToolAnswer::new(&told, json!({"columns": columns, "rows": rows, "silent": silent}))
}

/// How many sessions are listed.
const TOLD_OF_CONFLICTS: usize = 20;
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
        for (at, one) in found.iter().take(TOLD_OF_CONFLICTS).enumerate() {
            let details = if at < COMPARED { compare(&call, one).await? } else { None };
            told.extend(lines(one, details.as_ref(), &peers, now));
            items.push(data(one, details.as_ref()));
        }
        if found.len() > TOLD_OF_CONFLICTS {
            told.push(format!("and {} more sessions", found.len() - TOLD_OF_CONFLICTS));
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
        let rev = carry::revision(&one.rev, &all);
        let (by, age) = (peers.name(one.node_id), age(one.last_modified, now));
        let what = if one.deleted { "deletes it".to_owned() } else { carry::size(one.size) };
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
        return vec![format!("  cannot be compared: {}", carry::plain(why))];
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
    let names: Vec<String> = one.names.iter().take(NAMES).map(|name| carry::plain(name)).collect();
    let (kind, counts) = (one.kind.to_string().replace('_', " "), counts.join(", "));
    let told = format!("  keeping it changes {} {kind}: {counts}", carry::plain(site));
    let rest = if one.names.len() > NAMES { ", …" } else { "" };
    if names.is_empty() { told } else { format!("{told} ({}{rest})", names.join(", ")) }
}

/// The same for programs; null where nothing was compared.
fn difference_data(difference: &RevisionDifference) -> Value {
    match &difference.unreadable {
        Some(why) => json!({"unreadable": carry::plain(why)}),
        None => json!(difference.sites),
    }
}

/// Ends a conflict: the revision to keep counts from now on.
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
        let (name, rev) = (&view.name, carry::revision(&view.current.rev, &[]));
        let told = [
            format!("Revision {rev} of {name} counts from now on."),
            "Peers hear of it when sessions move the next time.".to_owned(),
        ];
        let data = json!({"sessionId": view.session_id, "name": name, "rev": view.current.rev});
        Ok(ToolAnswer::new(&told, data))
    }
}
