//! What needs no key: whether the node lives, whether it can work, and what it offers.

use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::Refusal;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::{Extension, Json};
use baton_api::{Health, Problem, Ready};
use baton_session::json;

/// Whether the node lives, and who it is.
#[utoipa::path(get, path = "/health", tag = "system", responses((status = 200, body = Health)))]
pub(super) async fn health(State(context): State<Context>) -> Json<Health> {
    Json(Health {
        status: "ok".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        node_id: context.node,
        identity: context.own.identity.now().card(&context.own.node_settings).identity(),
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
    Extension(WrittenDocument(document)): Extension<WrittenDocument>,
) -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], document)
}

/// The document as it is answered: written once, for anybody may ask for it as often as they like.
#[derive(Clone)]
pub(super) struct WrittenDocument(Bytes);

impl WrittenDocument {
    pub(super) fn of(document: &utoipa::openapi::OpenApi) -> Self {
        Self(json::bytes(document).into())
    }
}
