//! What nodes of a cluster have that no database knows of: all of them are asked at once.
//!
//! The one idea: who asks is told what came, and which nodes did not answer; a node that is gone has nothing.

use crate::cluster::{Cluster, Look, Origin, Unreachable};
use crate::context::Context;
use crate::error::NodeError;
use crate::looking;
use baton_agents::sandboxes;
use baton_agents::sandboxes::SandboxRefusal;
use baton_api::debug::{DebugTabs, TabToken};
use baton_api::sandbox::SandboxList;
use baton_runtime::Caller;
use baton_session::{NodeId, SandboxId, json};
use baton_store::ClusterRow;
use futures_util::future::join_all;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The start of a sandbox's id has to be so long at least.
const PREFIX: usize = 4;
/// Where a node lists its sandboxes, and its tabs.
const SANDBOXES: &str = "/api/sandboxes";
const TABS: &str = "/debug/tabs";

/// The caller's sandboxes at all nodes, the oldest first; those of this one alone, where another node asks.
pub(crate) async fn sandboxes(
    context: &Context,
    caller: &Caller,
    origin: Option<&Origin>,
) -> SandboxList {
    let mut list = sandboxes::list(&context.agents, caller);
    let Some(origin) = origin else { return list };
    for (row, answered) in answers::<SandboxList>(context, SANDBOXES, caller, origin).await {
        match answered {
            Ok(theirs) => list.items.extend(theirs.items),
            Err(error) => {
                tracing::warn!(%error, "a node was not asked for its sandboxes");
                list.missing.push(row.member.name);
            }
        }
    }
    list.items.sort_by_key(|sandbox| sandbox.id);
    list
}

/// The tabs that the caller can look into at all nodes; those of this one alone, where another node asks.
pub(crate) async fn tabs(
    context: &Context,
    caller: &Caller,
    origin: Option<&Origin>,
) -> Result<DebugTabs, NodeError> {
    let mut list = looking::list_tabs(context, caller).await?;
    let Some(origin) = origin else { return Ok(list) };
    for (row, answered) in answers::<DebugTabs>(context, TABS, caller, origin).await {
        match answered {
            Ok(theirs) => list.items.extend(theirs.items),
            Err(error) => {
                tracing::warn!(%error, "a node was not asked for its tabs");
                list.missing.push(row.member.name);
            }
        }
    }
    Ok(list)
}

/// The node that has a tab of the caller, if any does.
pub(crate) async fn teller(
    context: &Context,
    caller: &Caller,
    origin: &Origin,
    token: &TabToken,
) -> Option<NodeId> {
    if looking::list_tabs(context, caller).await.is_ok_and(|tabs| has(&tabs, token)) {
        return Some(context.node);
    }
    teller_elsewhere(context, caller, origin, token).await.map(|row| row.member.node)
}

/// The other node that has a tab of the caller, if any does.
async fn teller_elsewhere(
    context: &Context,
    caller: &Caller,
    origin: &Origin,
    token: &TabToken,
) -> Option<ClusterRow> {
    let told = answers(context, TABS, caller, origin).await;
    let found = told.into_iter().find(|(_, tabs)| tabs.as_ref().is_ok_and(|it| has(it, token)));
    found.map(|(row, _)| row)
}

fn has(tabs: &DebugTabs, token: &TabToken) -> bool {
    tabs.items.iter().any(|tab| tab.token == *token)
}

/// What another node knows of a tab that it has and this one has not: its network or its console, by what has to
/// fit; none where no node has it.
pub(crate) async fn of_tab<T: DeserializeOwned + Send + 'static>(
    context: &Context,
    caller: &Caller,
    origin: &Origin,
    (token, what): (&TabToken, &str),
    filters: &impl Serialize,
) -> Option<Result<T, Unreachable>> {
    let cluster = context.cluster.as_ref()?;
    let row = teller_elsewhere(context, caller, origin, token).await?;
    let path = format!("{TABS}/{token}/{what}");
    let look = Look { path: &path, filters: Some(json::bytes(filters)) };
    let identity = context.own.identity.now();
    Some(cluster.look(&identity, &row, &look, caller, origin).await)
}

/// What the other nodes answer; nothing where this one is none of a cluster.
async fn answers<T: DeserializeOwned + Send + 'static>(
    context: &Context,
    path: &str,
    caller: &Caller,
    origin: &Origin,
) -> Vec<(ClusterRow, Result<T, Unreachable>)> {
    let Some(cluster) = &context.cluster else { return Vec::new() };
    let identity = context.own.identity.now();
    let asked = cluster.others().into_iter().map(async |row| {
        let look = Look { path, filters: None };
        let answer = cluster.look(&identity, &row, &look, caller, origin).await;
        (row, answer)
    });
    join_all(asked).await
}

/// The node that made a sandbox of the caller, by its id or a unique prefix of it; none where no node has it.
pub(crate) async fn maker(
    context: &Context,
    cluster: &Cluster,
    caller: &Caller,
    origin: &Origin,
    reference: &str,
) -> Result<Option<NodeId>, NodeError> {
    if let Ok(id) = reference.parse() {
        return Ok(maker_of(context, cluster, id));
    }
    let reference = reference.to_ascii_lowercase();
    if reference.len() < PREFIX {
        return Ok(None);
    }
    let list = sandboxes(context, caller, Some(origin)).await;
    let ids = list.items.iter().map(|sandbox| sandbox.id);
    let found: Vec<SandboxId> = ids.filter(|id| id.to_string().starts_with(&reference)).collect();
    match found.as_slice() {
        [] => Ok(None),
        [id] => Ok(maker_of(context, cluster, *id)),
        several => {
            let found = several.len();
            Err(baton_agents::AgentsError::from(SandboxRefusal::Ambiguous { reference, found })
                .into())
        }
    }
}

/// The node whose mark the id of a sandbox bears, if that is there.
pub(crate) fn maker_of(context: &Context, cluster: &Cluster, id: SandboxId) -> Option<NodeId> {
    let others = cluster.others();
    let mut nodes = others.iter().map(|row| row.member.node);
    if id.is_of(context.node) { Some(context.node) } else { nodes.find(|node| id.is_of(*node)) }
}
