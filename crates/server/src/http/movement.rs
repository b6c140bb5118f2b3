//! Sessions that move to a peer and from it, over HTTP. `{peer}` is a node's id, a unique prefix of one, or a
//! peer's name.

use super::input::{Path, Query};
use crate::auth::Sync;
use crate::context::Context;
use crate::door::Refusal;
use crate::error::NodeError;
use axum::extract::State;
use baton_api::Invalid;
use baton_api::Problem;
use baton_api::sync::Movement;
use serde::Deserialize;
use std::time::Duration;
use utoipa::IntoParams;

type Answer<T> = Result<axum::Json<T>, Refusal>;

/// How long a movement goes on before it answers.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct HowLong {
    /// After so many seconds, 1 to 80, it answers how much is left; whoever shows how far it is, or may stop
    /// it, asks for few. 80 when left out.
    seconds: Option<u64>,
}

impl HowLong {
    fn limit(&self) -> Result<Duration, NodeError> {
        let most = baton_sync::CALL_LIMIT.as_secs();
        match self.seconds.unwrap_or(most) {
            seconds if (1..=most).contains(&seconds) => Ok(Duration::from_secs(seconds)),
            found => Err(Invalid {
                field: "seconds",
                expected: "a number from 1 to 80",
                found: found.to_string(),
            }
            .into()),
        }
    }
}

/// Pulls a session from a peer. When time runs out it answers `unfinished`, and goes on when called
/// again.
#[utoipa::path(
    post, path = "/sync/pull/{peer}/{session}", tag = "sync", security(("api_key" = [])),
    params(("peer" = String, Path), ("session" = String, Path), HowLong),
    responses((status = 200, body = Movement), (status = "4XX", body = Problem))
)]
pub(super) async fn pull(
    State(context): State<Context>,
    Sync(caller): Sync,
    Path((peer, session)): Path<(String, String)>,
    Query(how): Query<HowLong>,
) -> Answer<Movement> {
    let limit = how.limit()?;
    Ok(axum::Json(baton_sync::pull(&context, &caller, &peer, &session, limit).await?))
}

/// Pushes a session to a peer. When time runs out it answers `unfinished`, and goes on when called
/// again.
#[utoipa::path(
    post, path = "/sync/push/{peer}/{session}", tag = "sync", security(("api_key" = [])),
    params(("peer" = String, Path), ("session" = String, Path), HowLong),
    responses((status = 200, body = Movement), (status = "4XX", body = Problem))
)]
pub(super) async fn push(
    State(context): State<Context>,
    Sync(caller): Sync,
    Path((peer, session)): Path<(String, String)>,
    Query(how): Query<HowLong>,
) -> Answer<Movement> {
    let limit = how.limit()?;
    Ok(axum::Json(baton_sync::push(&context, &caller, &peer, &session, limit).await?))
}
