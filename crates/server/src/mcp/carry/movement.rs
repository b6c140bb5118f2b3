//! Sessions are saved, and move one way: to a peer, from it, or from the peer that has something newer.
//!
//! A session moves until all of it has, also where time runs out on the way. One at peers is found by what a model
//! says: an id, a name, or the beginning of an id.

use super::Direction;
use super::peers::{Peers, at_once, silent};
use crate::mcp::answer::{Failure, ToolAnswer};
use crate::mcp::verb::{Call, Effect, ToolPlace, Verb};
use crate::mcp::{carry, keep};
use baton_api::Scope;
use baton_api::sync::{
    Difference, DifferenceList, Movement, MovementOutcome, SaveSession, SavedView,
};
use baton_session::{SessionId, SessionName};
use baton_sync::CALL_LIMIT;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

impl Direction {
    /// Moves a session of this id, and goes on where time ran out. What time ran out for before a
    /// single part moved comes back unfinished. `name` is what people call the session.
    async fn whole(
        self,
        call: &Call,
        peer: &str,
        session: &str,
        name: &str,
    ) -> Result<Movement, Failure> {
        let doing = match self {
            Self::Pull => format!("fetching {name}"),
            Self::Push => format!("giving {name}"),
        };
        let (mut parts, mut bytes) = (0, 0);
        loop {
            let moving = Box::pin(self.once(call, peer, session));
            let mut moved = call.progress.during(&doing, moving).await?;
            let goes_on = moved.outcome == MovementOutcome::Unfinished && moved.parts > 0;
            parts += moved.parts;
            bytes += moved.bytes;
            if !goes_on {
                (moved.parts, moved.bytes) = (parts, bytes);
                return Ok(moved);
            }
        }
    }

    async fn once(self, call: &Call, peer: &str, session: &str) -> Result<Movement, Failure> {
        let (context, caller) = (&call.context, &call.caller);
        Ok(match self {
            Self::Pull => {
                Box::pin(baton_sync::pull(context, caller, peer, session, CALL_LIMIT)).await?
            }
            Self::Push => {
                Box::pin(baton_sync::push(context, caller, peer, session, CALL_LIMIT)).await?
            }
        })
    }
}

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
    /// Default: the active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
}

impl Verb for SaveProfile {
    const NAME: &'static str = "browser_save_profile";
    const EFFECT: Effect = Effect::Changes;

    fn place(&self) -> ToolPlace {
        ToolPlace::Session(self.session_id.clone())
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Sync).await?;
        let session = call.session(self.session_id).await?;
        let (name, description) = (Some(session_name(&self.name)?), self.description);
        let request = SaveSession { name, description, sync_to_peers: self.sync_to_peers };
        let saved = save(&call, &session, request).await?;
        let peers = Peers::known(&call).await?;
        Ok(answer(&saved, &peers))
    }
}

/// The name of a session, as a model gave it.
fn session_name(given: &str) -> Result<SessionName, Failure> {
    given.parse().map_err(|error| Failure::Arguments(format!("name: {error}")))
}

/// Saves a session, and says meanwhile that it does.
async fn save(call: &Call, session: &str, request: SaveSession) -> Result<SavedView, Failure> {
    let doing = format!("saving {}", carry::plain(session));
    let saving = Box::pin(baton_sync::save(&call.context, &call.caller, session, request));
    Ok(call.progress.during(&doing, saving).await?)
}

fn answer(saved: &SavedView, peers: &Peers) -> ToolAnswer {
    let (name, rev) = (&saved.name, carry::revision(&saved.rev, &[]));
    let mut told = vec![if saved.unchanged {
        format!("{name} was saved as it is already: revision {rev}.")
    } else {
        format!("Saved {name}: revision {rev}.")
    }];
    let mut pushed: Vec<Value> = Vec::new();
    for moved in &saved.pushed {
        let peer = peers.name(moved.node_id);
        told.push(carry::movement(Direction::Push, moved, &peer));
        pushed.push(carry::movement_data(moved, &peer));
    }
    let mut failed = Vec::new();
    for one in &saved.failed {
        let (peer, reason) = (carry::plain(&one.peer), carry::plain(&one.reason));
        told.push(format!("It did not reach {peer}: {reason}"));
        failed.push(json!({"peer": peer, "reason": reason}));
    }
    for left in saved.left_out.losses() {
        let (place, why) = (&left.place, left.reason.as_deref().unwrap_or_default());
        told.push(carry::plain(&format!("Not in it: {} {place}: {why}", left.kind)));
    }
    if !saved.conflicts.is_empty() {
        told.push("In conflict: browser_sync_conflicts lists what to choose from.".to_owned());
    }
    let data = json!({
        "sessionId": saved.id, "name": name, "rev": saved.rev, "unchanged": saved.unchanged,
        "conflicts": saved.conflicts, "pushed": pushed, "failed": failed,
    });
    ToolAnswer::new(&told, data)
}

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
    /// Default: the active one
    #[serde(alias = "session_id")]
    session_id: Option<String>,
}

impl Verb for ExportSession {
    const NAME: &'static str = "browser_sync_export_session";
    const EFFECT: Effect = Effect::Changes;

    fn place(&self) -> ToolPlace {
        ToolPlace::Session(self.session_id.clone())
    }

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Sync).await?;
        let session = call.session(self.session_id).await?;
        let name = session_name(&self.name)?;
        let request =
            SaveSession { name: Some(name), description: self.description, sync_to_peers: false };
        let saved = save(&call, &session, request).await?;
        let id = saved.id.to_string();
        let moved =
            Box::pin(Direction::Push.whole(&call, &self.node_id, &id, saved.name.as_str())).await?;
        let peer = Peers::known(&call).await?.name(moved.node_id);
        let told = [carry::movement(Direction::Push, &moved, &peer)];
        Ok(ToolAnswer::new(&told, carry::movement_data(&moved, &peer)))
    }
}

/// Brings a session from a peer to this node.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ImportSession {
    /// A peer's name or id
    #[serde(alias = "node_id")]
    node_id: String,
    /// Name or id
    #[serde(alias = "session_id")]
    session_id: String,
    /// Start its browser too
    #[serde(default)]
    resume: bool,
}

impl Verb for ImportSession {
    const NAME: &'static str = "browser_sync_import_session";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Sync).await?;
        if self.resume {
            call.require(Scope::Drive).await?;
        }
        let asking = baton_sync::remote_index(&call.context, &call.caller, &self.node_id);
        let index = call.progress.during("asking the peer", asking).await?;
        let there = index.sessions.into_iter().filter(|session| !session.deleted);
        let known = there.map(|session| (session.id, session.name));
        let (id, name) = find_session(known, &self.session_id)?;
        let id = id.to_string();
        let moved =
            Box::pin(Direction::Pull.whole(&call, &self.node_id, &id, name.as_str())).await?;
        let peer = Peers::known(&call).await?.name(moved.node_id);
        let mut told = vec![carry::movement(Direction::Pull, &moved, &peer)];
        let mut data = carry::movement_data(&moved, &peer);
        let is_whole = moved.outcome != MovementOutcome::Unfinished;
        if self.resume && is_whole {
            let resumed = keep::resume(&call, &id).await?;
            told.extend(resumed.0);
            data["resumed"] = resumed.1;
        } else if is_whole {
            told.push(format!("session_resume with sessionId {} starts its browser.", moved.name));
        }
        Ok(ToolAnswer::new(&told, data))
    }
}

/// Resumes a session with what is newest here and at peers.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ResumeSession {
    /// Name or id
    #[serde(alias = "session_id")]
    session_id: String,
    /// A peer's name or id; default: whoever has newer
    #[serde(alias = "source_node_id")]
    source_node_id: Option<String>,
}

impl Verb for ResumeSession {
    const NAME: &'static str = "browser_sync_resume_session";
    const EFFECT: Effect = Effect::Changes;

    async fn call(self, call: Call) -> Result<ToolAnswer, Failure> {
        call.require(Scope::Sync).await?;
        call.require(Scope::Drive).await?;
        let peers = Peers::known(&call).await?;
        let named = self.source_node_id.as_deref();
        let (lists, mut told) = ask(&call, &peers, named).await?;
        let (id, name) = self.find(&call, &lists).await?;
        let mut moved = Vec::new();
        for list in lists.iter().filter(|list| has_newer(list, id)) {
            let (peer, id) = (list.node_id.to_string(), id.to_string());
            let came = Box::pin(Direction::Pull.whole(&call, &peer, &id, name.as_str())).await?;
            let peer = peers.name(list.node_id);
            told.push(carry::movement(Direction::Pull, &came, &peer));
            moved.push(carry::movement_data(&came, &peer));
        }
        let (lines, mut data) = keep::resume(&call, &id.to_string()).await?;
        told.extend(lines);
        data["moved"] = json!(moved);
        Ok(ToolAnswer::new(&told, data))
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
        match find_session(known, &self.session_id) {
            Err(at_peers) => match call.context.find(&call.caller.owner, &self.session_id).await {
                Ok(here) => Ok((here.id, here.name)),
                Err(_) => Err(at_peers),
            },
            found => found,
        }
    }
}

/// How sessions stand at the peers that are asked. One that was named has to answer; of all, those that do
/// not are named.
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

/// The shortest beginning of an id that finds a session.
const SHORTEST: usize = 4;

/// The one session among these that `reference` names. An id goes before a name, and a name before the
/// beginning of an id.
fn find_session(
    known: impl Iterator<Item = (SessionId, SessionName)>,
    reference: &str,
) -> Result<(SessionId, SessionName), Failure> {
    let known: BTreeMap<SessionId, SessionName> = known.collect();
    let whole = reference.parse().ok().filter(|id| known.contains_key(id));
    let mut found: Vec<SessionId> = match whole {
        Some(id) => vec![id],
        None => fitting(&known, |_, name| name == reference),
    };
    if found.is_empty() && reference.len() >= SHORTEST {
        found = fitting(&known, |id, _| id.starts_with(reference));
    }
    match found.as_slice() {
        [only] => known.get_key_value(only).map(|(id, name)| (*id, name.clone())),
        _ => None,
    }
    .ok_or_else(|| Failure::AtPeers { found: id_list(&found) })
}

fn fitting(
    known: &BTreeMap<SessionId, SessionName>,
    fits: impl Fn(&str, &str) -> bool,
) -> Vec<SessionId> {
    let fits = |(id, name): &(&SessionId, &SessionName)| fits(&id.to_string(), name.as_str());
    known.iter().filter(fits).map(|(id, _)| *id).collect()
}

fn id_list(found: &[SessionId]) -> String {
    match found {
        [] => "none".to_owned(),
        several => several.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::find_session;
    use crate::mcp::answer::Failure;
    use baton_session::{SessionId, SessionName};

    const A: &str = "0197c0de-0000-7000-8000-00000000000a";
    const B: &str = "0197c0de-0000-7000-8000-00000000000b";
    const C: &str = "0198aaaa-0000-7000-8000-00000000000c";

    fn find(reference: &str) -> String {
        let known = [(A, "shop"), (B, "shop"), (C, "mail"), (C, "mail")];
        let known = known.map(|(id, name)| {
            (id.parse::<SessionId>().unwrap(), name.parse::<SessionName>().unwrap())
        });
        match find_session(known.into_iter(), reference) {
            Ok((id, _)) => id.to_string(),
            Err(Failure::AtPeers { found }) => format!("found {found}"),
            Err(_) => "another failure".to_owned(),
        }
    }

    #[test]
    fn a_session_is_found_by_id_name_or_beginning() {
        assert_eq!(find("mail"), C);
        assert_eq!(find("0198"), C);
        assert_eq!(find(B), B);
    }

    #[test]
    fn what_names_none_or_several_says_which() {
        assert_eq!(find("nope"), "found none");
        assert_eq!(find("019"), "found none");
        assert_eq!(find("shop"), format!("found {A}, {B}"));
        assert_eq!(find("0197c0de"), format!("found {A}, {B}"));
    }
}
