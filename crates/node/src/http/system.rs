//! What needs no key: whether the node lives, whether it can work, and what it offers.

use super::Refusal;
use crate::{Context, NodeError};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use baton_api::{Health, Problem, Ready};
use std::sync::Arc;

/// Whether the node lives, and who it is.
#[utoipa::path(get, path = "/health", tag = "system", responses((status = 200, body = Health)))]
pub(super) async fn health(State(context): State<Context>) -> Json<Health> {
    Json(Health {
        status: "ok".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        node_id: context.node,
        identity: context.identity.now().card(&context.node_settings).identity(),
    })
}

/// Whether the node can work: its database answers.
#[utoipa::path(
    get,
    path = "/ready",
    tag = "system",
    responses((status = 200, body = Ready), (status = 503, body = Problem))
)]
pub(super) async fn ready(State(context): State<Context>) -> Result<Json<Ready>, Refusal> {
    context.store.check().await.map_err(NodeError::from)?;
    Ok(Json(Ready { status: "ready".to_owned() }))
}

/// This document.
#[utoipa::path(get, path = "/openapi.json", tag = "system", responses((status = 200)))]
pub(super) async fn openapi(
    Extension(document): Extension<Arc<utoipa::openapi::OpenApi>>,
) -> Response {
    Json(document.as_ref()).into_response()
}
