//! Which sessions are saved: here, and at peers.

use super::peers::{Peers, at_once, silent as why_silent};
use super::text;
use crate::mcp::answer::{Failure, ToolAnswer};
use crate::mcp::text::age;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_api::sync::{Difference, DifferenceList, IndexedSession};
use baton_session::SessionId;
use baton_store::clock;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
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
            let name = text::plain(&peer.name);
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
        let (age, size) = (age(session.last_modified, now), text::size(session.size));
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
