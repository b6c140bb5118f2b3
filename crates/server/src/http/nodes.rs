//! The nodes of a cluster over HTTP.
//!
//! `{id}` is a node's id, a unique prefix of one, or a name that one of them has.

use super::request::Path;
use crate::auth::Admin;
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::Refusal;
use axum::extract::State;
use baton_api::{NodeList, NodeView, Problem};
use baton_store::ClusterRow;

type Answer<T> = Result<axum::Json<T>, Refusal>;

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
    Ok(axum::Json(NodeList { cluster, items: views(&context).await? }))
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
    let items = views(&context).await?;
    let is_named = |node: &&NodeView| node.name == id || node.node_id.to_string() == id;
    let begins =
        |node: &&NodeView| id.len() >= PREFIX_MIN && node.node_id.to_string().starts_with(&id);
    let named: Vec<&NodeView> = items.iter().filter(is_named).collect();
    let found = if named.is_empty() { items.iter().filter(begins).collect() } else { named };
    match found.as_slice() {
        [one] => Ok(axum::Json(NodeView::clone(one))),
        _ => Err(NodeError::NodeNotFound { id: id.chars().take(100).collect() }.into()),
    }
}

/// The fewest letters of an id that name a node.
const PREFIX_MIN: usize = 4;

async fn views(context: &Context) -> Result<Vec<NodeView>, NodeError> {
    let Some(cluster) = &context.cluster else { return Ok(Vec::new()) };
    let view = |row: ClusterRow| NodeView {
        node_id: row.member.node,
        name: row.member.name,
        internal_url: row.member.internal_url,
        key: row.member.key,
        version: row.member.version,
        started_at: row.started_at,
        seen_at: row.seen_at,
        is_there: row.is_there,
        is_this: row.member.node == context.node,
        clock_ahead_ms: row.clock_ahead,
        browsers: row.browsers,
        bus: context.doorbell.bus().filter(|_| row.member.node == context.node),
    };
    Ok(cluster.list().await?.into_iter().map(view).collect())
}
