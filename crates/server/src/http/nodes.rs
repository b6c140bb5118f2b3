//! The nodes of a cluster over HTTP.
//!
//! `{id}` is a node's id, a unique prefix of one, or a name that one of them has.

use super::answer::{Answer, answer};
use super::request::{Here, Json, Path, Query};
use crate::auth::{Admin, FromNode, Known};
use crate::cluster::{AskedFor, Cluster, Kind};
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::Refusal;
use crate::mcp;
use crate::moving::drain;
use crate::page::PagePlace;
use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use baton_api::{
    CallTool, DrainNode, Invalid, NodeList, NodeView, Problem, TakeSession, ToolEvent,
};
use baton_runtime::audit::{Action, Note};
use baton_runtime::{RuntimeError, life, luggage};
use baton_session::{Session, SessionId};
use baton_store::blocking::finished;
use baton_store::{ClusterRow, Forgetting, StoreError, clock};
use futures_util::StreamExt;
use serde::Deserialize;
use std::convert::Infallible;
use std::time::{Duration, UNIX_EPOCH};
use utoipa::IntoParams;

/// The nodes that are one with this one; none where it is one by itself.
#[utoipa::path(
    get, path = "/nodes", operation_id = "list", tag = "nodes", security(("api_key" = [])),
    responses((status = 200, body = NodeList), (status = "4XX", body = Problem))
)]
pub(super) async fn list(
    State(context): State<Context>,
    Admin(_caller): Admin,
) -> Answer<NodeList> {
    let cluster = context.cluster.as_ref().map(|cluster| cluster.cluster().to_owned());
    answer(NodeList { cluster, items: views(&context).await? }).await
}

/// One of them.
#[utoipa::path(
    get, path = "/nodes/{id}", operation_id = "show", tag = "nodes", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = NodeView), (status = "4XX", body = Problem))
)]
pub(super) async fn show(
    State(context): State<Context>,
    Admin(_caller): Admin,
    Path(id): Path<String>,
) -> Answer<NodeView> {
    answer(view(&context, named(&context, &id).await?)).await
}

async fn views(context: &Context) -> Result<Vec<NodeView>, NodeError> {
    let Some(cluster) = &context.cluster else { return Ok(Vec::new()) };
    Ok(cluster.list().await?.into_iter().map(|row| view(context, row)).collect())
}

/// The node that a path names.
async fn named(context: &Context, id: &str) -> Result<ClusterRow, NodeError> {
    let found = match &context.cluster {
        Some(cluster) => cluster.named(id).await?,
        None => None,
    };
    found.ok_or_else(|| not_found(id))
}

fn not_found(id: &str) -> NodeError {
    NodeError::NodeNotFound { id: id.chars().take(100).collect() }
}

fn view(context: &Context, row: ClusterRow) -> NodeView {
    let is_this = row.member.node == context.node;
    NodeView {
        node_id: row.member.node,
        name: row.member.name,
        internal_url: row.member.internal_url,
        key: row.member.key,
        version: row.member.version,
        labels: row.member.labels,
        started_at: row.started_at,
        seen_at: row.seen_at,
        is_there: row.is_there,
        is_this,
        clock_ahead_ms: row.beat.clock_ahead,
        browsers: row.beat.browsers,
        places: row.beat.places,
        sandboxes: row.beat.sandboxes,
        sandbox_places: row.beat.sandbox_places,
        is_draining: row.beat.is_draining,
        drain: context.drain.view().filter(|_| is_this),
        bus: context.doorbell.bus().filter(|_| is_this),
    }
}

/// Brings what the node runs to other nodes, and lets it take nothing new until that is ended. Refused where the
/// others have no room for all of it, unless `partly` is said. Answers at once; the node says how far it is.
#[utoipa::path(
    post, path = "/nodes/{id}/drain", operation_id = "drain", tag = "nodes",
    security(("api_key" = [])), params(("id" = String, Path)), request_body = DrainNode,
    responses((status = 200, body = NodeView), (status = "4XX", body = Problem))
)]
pub(super) async fn drain(
    State(context): State<Context>,
    Admin(caller): Admin,
    Path(id): Path<String>,
    Json(DrainNode { partly }): Json<DrainNode>,
) -> Answer<NodeView> {
    let row = own(&context, &id).await?;
    let note = Note::new(&caller.actor, &caller.owner, Action::DrainNode, row.member.name.clone());
    let begun = drain::begin(&context, partly).await;
    note.end(&context.store, begun).await?;
    answer(view(&context, own(&context, &id).await?)).await
}

/// Ends that: the node takes new sessions again. What is on its way arrives.
#[utoipa::path(
    delete, path = "/nodes/{id}/drain", operation_id = "end_drain", tag = "nodes",
    security(("api_key" = [])), params(("id" = String, Path)),
    responses((status = 200, body = NodeView), (status = "4XX", body = Problem))
)]
pub(super) async fn end_drain(
    State(context): State<Context>,
    Admin(caller): Admin,
    Path(id): Path<String>,
) -> Answer<NodeView> {
    let row = own(&context, &id).await?;
    let note = Note::new(&caller.actor, &caller.owner, Action::EndDrain, row.member.name.clone());
    drain::end(&context);
    note.end(&context.store, Ok::<_, NodeError>(())).await?;
    answer(view(&context, own(&context, &id).await?)).await
}

/// Forgets a node that is gone for good, as one whose machine was destroyed: it is in no list any more, and the key of
/// its data folder opens nothing. Refused while it may be there still. Its sessions stay, and are resumed at other nodes.
#[utoipa::path(
    delete, path = "/nodes/{id}", operation_id = "forget", tag = "nodes", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 204), (status = "4XX", body = Problem))
)]
pub(super) async fn forget(
    State(context): State<Context>,
    Admin(caller): Admin,
    Path(id): Path<String>,
) -> Result<StatusCode, Refusal> {
    let found = match &context.cluster {
        Some(cluster) => cluster.named_gone(&id).await.map_err(NodeError::from)?,
        None => None,
    };
    let row = found.ok_or_else(|| not_found(&id))?;
    let (name, node) = (row.member.name.clone(), row.member.node.to_string());
    let entry = Note::new(&caller.actor, &caller.owner, Action::ForgetNode, name);
    let forgotten = forget_gone(&context, row).await;
    entry.with("node", node).end(&context.store, forgotten).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Forgets a node, unless it is there, or may hold a session.
async fn forget_gone(context: &Context, row: ClusterRow) -> Result<(), NodeError> {
    let (name, node) = (row.member.name, row.member.node);
    let refused = |found| Err(NodeError::NodeNotGone { name, found });
    if node == context.node {
        return refused("it is the one that answers".to_owned());
    }
    if let Some(left) = context.supervisor.end_leases_of_gone(node).await? {
        let seconds = left.as_secs() + 1;
        return refused(format!(
            "its lease may last for {seconds} s more, unless it is heard again"
        ));
    }
    match context.store.forget_node(node, clock::now()).await? {
        Forgetting::Done => {}
        Forgetting::There { until } => {
            return refused(format!("it counts as there until {until}, unless it is heard again"));
        }
        Forgetting::Holds { sessions } => {
            return refused(format!("it holds {sessions} sessions, whose leases end in a moment"));
        }
    }
    // What was opened with the key of its data folder ends, wherever it is.
    context.revoked.send_modify(|count| *count += 1);
    tracing::info!(%node, "forgot a node that is gone");
    Ok(())
}

/// Another node of the cluster gives a session to this one, or found it left behind by one that fell silent: it runs
/// here when this answers, with the files that came ahead of it. Only nodes of the cluster ask this.
#[utoipa::path(
    post, path = "/nodes/{id}/sessions/{session}", operation_id = "take_session", tag = "nodes",
    security(("api_key" = [])), params(("id" = String, Path), ("session" = String, Path)),
    request_body = TakeSession,
    responses((status = 204), (status = "4XX", body = Problem))
)]
pub(super) async fn take_session(
    State(context): State<Context>,
    FromNode: FromNode,
    Path((id, session)): Path<(String, SessionId)>,
    Json(TakeSession { files }): Json<TakeSession>,
) -> Result<StatusCode, Refusal> {
    let coming = coming(&context, &id, session).await?;
    life::take_with(&context, coming, files).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A session that another node is about to give runs there still: a profile of its newest snapshot is made ready here
/// when this answers. Only nodes of the cluster ask this.
#[utoipa::path(
    post, path = "/nodes/{id}/sessions/{session}/profile", operation_id = "make_ready",
    tag = "nodes", security(("api_key" = [])),
    params(("id" = String, Path), ("session" = String, Path)),
    responses((status = 204), (status = "4XX", body = Problem))
)]
pub(super) async fn make_ready(
    State(context): State<Context>,
    FromNode: FromNode,
    Path((id, session)): Path<(String, SessionId)>,
) -> Result<StatusCode, Refusal> {
    let coming = coming(&context, &id, session).await?;
    let supervisor = context.supervisor.clone();
    // It is brought to its end, with the browser that it needs, when who asks does not wait for it.
    let made = context.tasks.spawn(async move { supervisor.make_ready(&coming).await });
    let made = finished(made.await).map_err(RuntimeError::from)?;
    made.map_err(RuntimeError::from)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Another node does not give a session after all: what came ahead of it is removed. Only nodes of the cluster ask
/// this.
#[utoipa::path(
    delete, path = "/nodes/{id}/sessions/{session}", operation_id = "forget_session", tag = "nodes",
    security(("api_key" = [])), params(("id" = String, Path), ("session" = String, Path)),
    responses((status = 204), (status = "4XX", body = Problem))
)]
pub(super) async fn forget_session(
    State(context): State<Context>,
    FromNode: FromNode,
    Path((id, session)): Path<(String, SessionId)>,
) -> Result<StatusCode, Refusal> {
    own(&context, &id).await?;
    context.supervisor.forget_arrival(session).await;
    Ok(StatusCode::NO_CONTENT)
}

/// When a file was written.
#[derive(Debug, Deserialize, IntoParams)]
pub(super) struct Written {
    /// In microseconds since 1970.
    modified: u64,
}

/// A file of a session that comes, whole or not at all; it is among those of the session once that runs here. Only
/// nodes of the cluster ask this.
#[utoipa::path(
    put, path = "/nodes/{id}/sessions/{session}/files/{name}", operation_id = "receive_file",
    tag = "nodes", security(("api_key" = [])),
    params(("id" = String, Path), ("session" = String, Path), ("name" = String, Path), Written),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 204), (status = "4XX", body = Problem))
)]
pub(super) async fn receive_file(
    State(context): State<Context>,
    FromNode: FromNode,
    Path((id, session, name)): Path<(String, SessionId, String)>,
    Query(Written { modified }): Query<Written>,
    body: Body,
) -> Result<StatusCode, Refusal> {
    coming(&context, &id, session).await?;
    let modified = UNIX_EPOCH + Duration::from_micros(modified);
    luggage::receive(&context, session, &name, modified, body.into_data_stream()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A file that came ahead of a session, and that it has no more. Only nodes of the cluster ask this.
#[utoipa::path(
    delete, path = "/nodes/{id}/sessions/{session}/files/{name}", operation_id = "forget_file",
    tag = "nodes", security(("api_key" = [])),
    params(("id" = String, Path), ("session" = String, Path), ("name" = String, Path)),
    responses((status = 204), (status = "4XX", body = Problem))
)]
pub(super) async fn forget_file(
    State(context): State<Context>,
    FromNode: FromNode,
    Path((id, session, name)): Path<(String, SessionId, String)>,
) -> Result<StatusCode, Refusal> {
    own(&context, &id).await?;
    luggage::remove(&context, session, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A session that another node brings to this one, which the path names.
async fn coming(context: &Context, id: &str, session: SessionId) -> Result<Session, Refusal> {
    let row = own(context, id).await?;
    if context.cluster.as_ref().is_some_and(Cluster::is_draining) {
        // Two nodes that leave would send it to and fro.
        let found = format!("{} is being drained", row.member.name);
        return Err(NodeError::NoNodeHasRoom { what: Kind::Browser, found }.into());
    }
    let found = context.store.fetch_any_session(session).await.map_err(RuntimeError::from)?;
    let reference = session.to_string();
    Ok(found.ok_or(RuntimeError::from(StoreError::SessionNotFound { reference }))?)
}

/// A tool of the MCP server, called at this node: what another node asks for its client, because something of it is
/// here. The events end with how the call ended.
#[utoipa::path(
    post, path = "/nodes/{id}/tools/{tool}", operation_id = "call_tool", tag = "nodes",
    security(("api_key" = [])), params(("id" = String, Path), ("tool" = String, Path)),
    request_body = CallTool,
    responses(
        (status = 200, description = "Events", content_type = "text/event-stream", body = ToolEvent),
        (status = "4XX", body = Problem)
    )
)]
pub(super) async fn call_tool(
    State(context): State<Context>,
    Known(caller): Known,
    Path((id, tool)): Path<(String, String)>,
    Extension(place): Extension<PagePlace>,
    here: Here,
    Json(request): Json<CallTool>,
) -> Result<impl IntoResponse, Refusal> {
    own(&context, &id).await?;
    let place = place.link(&here.http());
    let events = mcp::serve(&context, caller, &tool, request, place);
    let events = events.ok_or_else(|| Invalid {
        field: "the path",
        expected: "the name of a tool of the MCP server",
        found: tool.chars().take(100).collect(),
    })?;
    // An event is made of texts.
    let event = |event| Ok::<_, Infallible>(Event::default().json_data(event).unwrap_or_default());
    Ok(Sse::new(events.map(event)).keep_alive(KeepAlive::default()))
}

/// The row of this node, which the path names.
async fn own(context: &Context, id: &str) -> Result<ClusterRow, NodeError> {
    let row = named(context, id).await?;
    if row.member.node == context.node {
        return Ok(row);
    }
    Err(NodeError::NodeUnreachable {
        name: row.member.name,
        asked: AskedFor::default(),
        url: row.member.internal_url,
        found: "that it was not there for a lease".to_owned(),
    })
}
