//! The audit log over HTTP.

use super::input::Query;
use crate::auth::Auditor;
use crate::context::Context;
use crate::door::Refusal;
use axum::extract::State;
use baton_api::{AuditList, ListAudit, Problem};
use baton_runtime::audit;

/// Who did what, newest first: the caller's own entries with the scope `read`, those of every owner
/// with the scope `admin`.
#[utoipa::path(
    get, path = "/audit", tag = "audit", security(("api_key" = [])), params(ListAudit),
    responses((status = 200, body = AuditList), (status = "4XX", body = Problem))
)]
pub(super) async fn list(
    State(context): State<Context>,
    Auditor(caller): Auditor,
    Query(query): Query<ListAudit>,
) -> Result<axum::Json<AuditList>, Refusal> {
    Ok(axum::Json(audit::list(&context, &caller, query).await?))
}
