//! API keys over HTTP. `{id}` is a key's id or the name of one that is not revoked.

use super::input::{Json, Path, Query};
use crate::auth::Admin;
use crate::context::Context;
use crate::door::Refusal;
use axum::extract::State;
use axum::http::StatusCode;
use baton_api::{CreateKey, CreatedKey, KeyList, Problem};
use baton_runtime::keys;
use baton_session::Owner;
use serde::Deserialize;
use utoipa::IntoParams;

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
) -> Result<axum::Json<KeyList>, Refusal> {
    Ok(axum::Json(keys::list(&context, &caller, owner).await?))
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
) -> Result<(StatusCode, axum::Json<CreatedKey>), Refusal> {
    let created = keys::create(&context, &caller, request).await?;
    Ok((StatusCode::CREATED, axum::Json(created)))
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
