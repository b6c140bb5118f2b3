//! The node itself over HTTP: whether it lives, whether it can work and what it offers, which needs no key;
//! and its API keys, with the audit log of what was done with them.
//!
//! `{id}` is a key's id or the name of one that is not revoked.

use super::answer::{Answer, JsonBody, answer};
use super::request::{Json, Path, Query};
use crate::auth::{Admin, Auditor, Read};
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::Refusal;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use baton_api::{
    AuditList, CreateKey, CreatedKey, Health, KeyList, ListAudit, Problem, Ready, ShowUsage,
    UsageView,
};
use baton_runtime::{audit, keys, usage};
use baton_session::{Owner, json};
use serde::Deserialize;
use utoipa::IntoParams;

/// Whether the node lives, and who it is.
#[utoipa::path(get, path = "/health", tag = "system", responses((status = 200, body = Health)))]
pub(super) async fn health(State(context): State<Context>) -> Answer<Health> {
    answer(Health {
        status: "ok".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        node_id: context.node,
        identity: context.own.identity.now().card(&context.own.node_settings).identity(),
    })
    .await
}

/// Whether the node can work: its database answers, and where it is one of several, the others know that it is there.
#[utoipa::path(
    get,
    path = "/ready",
    tag = "system",
    responses((status = 200, body = Ready), (status = 503, body = Problem))
)]
pub(super) async fn ready(State(context): State<Context>) -> Answer<Ready> {
    context.store.check().await.map_err(NodeError::from)?;
    if context.cluster.as_ref().is_some_and(|cluster| !cluster.is_known()) {
        return Err(NodeError::NotKnown.into());
    }
    answer(Ready { status: "ready".to_owned() }).await
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

/// Whose keys.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct OfOwner {
    /// The caller's own when left out.
    #[param(value_type = Option<String>)]
    pub(super) owner: Option<Owner>,
}

/// The keys of an owner, without their secrets.
#[utoipa::path(
    get, path = "/keys", tag = "keys", security(("api_key" = [])), params(OfOwner),
    responses((status = 200, body = KeyList), (status = "4XX", body = Problem))
)]
pub(super) async fn list(
    State(context): State<Context>,
    Admin(caller): Admin,
    Query(OfOwner { owner }): Query<OfOwner>,
) -> Answer<KeyList> {
    answer(keys::list(&context, &caller, owner).await?).await
}

/// Makes a key; its secret is shown this once.
#[utoipa::path(
    post, path = "/keys", tag = "keys", security(("api_key" = [])),
    responses((status = 201, body = CreatedKey), (status = "4XX", body = Problem))
)]
pub(super) async fn create(
    State(context): State<Context>,
    Admin(caller): Admin,
    Json(request): Json<CreateKey>,
) -> Result<(StatusCode, JsonBody<CreatedKey>), Refusal> {
    let created = keys::create(&context, &caller, request).await?;
    Ok((StatusCode::CREATED, answer(created).await?))
}

/// Revokes a key: from now on it opens nothing.
#[utoipa::path(
    delete, path = "/keys/{id}", tag = "keys", security(("api_key" = [])),
    params(("id" = String, Path), OfOwner),
    responses((status = 204), (status = "4XX", body = Problem))
)]
pub(super) async fn revoke(
    State(context): State<Context>,
    Admin(caller): Admin,
    Path(id): Path<String>,
    Query(OfOwner { owner }): Query<OfOwner>,
) -> Result<StatusCode, Refusal> {
    keys::revoke(&context, &caller, owner, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What the caller's owner has over all nodes of the database, and how much it may have.
#[utoipa::path(
    get, path = "/usage", operation_id = "usage", tag = "system", security(("api_key" = [])), params(ShowUsage),
    responses((status = 200, body = UsageView), (status = "4XX", body = Problem))
)]
pub(super) async fn usage(
    State(context): State<Context>,
    Read(caller): Read,
    Query(ShowUsage { owner }): Query<ShowUsage>,
) -> Answer<UsageView> {
    answer(usage::show(&context, &caller, owner).await?).await
}

/// Who did what, newest first: the caller's own entries with the scope `read`, those of every owner
/// with the scope `admin`.
#[utoipa::path(
    get, path = "/audit", operation_id = "list", tag = "audit", security(("api_key" = [])), params(ListAudit),
    responses((status = 200, body = AuditList), (status = "4XX", body = Problem))
)]
pub(super) async fn list_audit(
    State(context): State<Context>,
    Auditor(caller): Auditor,
    Query(query): Query<ListAudit>,
) -> Answer<AuditList> {
    answer(audit::list(&context, &caller, query).await?).await
}
