//! `browser_sync_list_remote_sessions`

use super::peers::{Peers, at_once, silent as why_silent};
use super::text;
use crate::mcp::answer::{Answer, Failure};
use crate::mcp::text::age;
use crate::mcp::verb::{Call, Effect, Verb};
use baton_api::Scope;
use baton_api::sync::IndexedSession;
use baton_store::clock;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// How many sessions are told of all peers together.
const TOLD: usize = 100;

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

    async fn call(self, call: Call) -> Result<Answer, Failure> {
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
        Ok(answer((&asked, &peers), &found, &silent))
    }
}

fn answer(
    (asked, peers): (&[String], &Peers),
    found: &[(String, IndexedSession)],
    silent: &[(String, String)],
) -> Answer {
    let now = clock::now();
    let mut told = vec![match (asked, found) {
        ([], _) => peers.nobody(),
        (_, []) => "No sessions.".to_owned(),
        _ => "name nodeId changed size sessionId".to_owned(),
    }];
    let mut rows = Vec::new();
    for (peer, session) in found.iter().take(TOLD) {
        let (name, id) = (&session.name, session.id);
        let (age, size) = (age(session.last_modified, now), text::size(session.size));
        told.push(format!("{name} {peer} {age} {size} {id}"));
        rows.push(json!([name, peer, age, session.size, id]));
    }
    if found.len() > TOLD {
        told.push(format!("and {} older ones; nodeId shows fewer", found.len() - TOLD));
    }
    told.extend(silent.iter().map(|(_, told)| told.clone()));
    let silent: Vec<_> = silent.iter().map(|(peer, _)| peer).collect();
    let columns = ["name", "nodeId", "changed", "size", "sessionId"];
    Answer::new(&told, json!({"columns": columns, "rows": rows, "silent": silent}))
}
