//! Upstream services over HTTP: services behind the node's proxy.

use super::keys::OfOwner;
use super::request::{Json, Path, Query};
use crate::auth::{Admin, Debug};
use crate::context::Context;
use crate::ingress::Refusal;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::IntoResponse;
use baton_api::Problem;
use baton_api::upstream::{PutUpstream, UpstreamId, UpstreamList, UpstreamTicket, UpstreamView};
use baton_proxy::upstreams;

/// The caller's cocoons, and where their pages are.
#[utoipa::path(
    get, path = "/cocoons", tag = "cocoons", security(("api_key" = [])),
    responses((status = 200, body = UpstreamList), (status = "4XX", body = Problem))
)]
pub(super) async fn list(
    State(context): State<Context>,
    Debug(caller): Debug,
) -> axum::Json<UpstreamList> {
    axum::Json(upstreams::list(&context.front, &caller))
}

/// Names a service that the proxy stands in front of from now on, or says something else of it.
#[utoipa::path(
    put, path = "/cocoons/{id}", tag = "cocoons", security(("api_key" = [])),
    params(("id" = String, Path)), request_body = PutUpstream,
    responses((status = 200, body = UpstreamView), (status = "4XX", body = Problem))
)]
pub(super) async fn put(
    State(context): State<Context>,
    Admin(caller): Admin,
    Path(id): Path<UpstreamId>,
    Json(request): Json<PutUpstream>,
) -> Result<axum::Json<UpstreamView>, Refusal> {
    Ok(axum::Json(upstreams::put(&context.front, &caller, id, request).await?))
}

/// Takes a service from behind the proxy.
#[utoipa::path(
    delete, path = "/cocoons/{id}", tag = "cocoons", security(("api_key" = [])),
    params(("id" = String, Path), OfOwner),
    responses((status = 204), (status = "4XX", body = Problem))
)]
pub(super) async fn remove(
    State(context): State<Context>,
    Admin(caller): Admin,
    Path(id): Path<UpstreamId>,
    Query(OfOwner { owner }): Query<OfOwner>,
) -> Result<StatusCode, Refusal> {
    upstreams::remove(&context.front, &caller, owner, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// An address that opens a cocoon in a browser, once, within a minute: browsers bear no key.
#[utoipa::path(
    post, path = "/cocoons/{id}/ticket", tag = "cocoons", security(("api_key" = [])),
    params(("id" = String, Path)),
    responses((status = 200, body = UpstreamTicket), (status = "4XX", body = Problem))
)]
pub(super) async fn enter(
    State(context): State<Context>,
    Debug(caller): Debug,
    Path(id): Path<UpstreamId>,
) -> Result<impl IntoResponse, Refusal> {
    let ticket = upstreams::enter(&context.front, &caller, &id)?;
    Ok(([(CACHE_CONTROL, "no-store")], axum::Json(ticket)))
}
