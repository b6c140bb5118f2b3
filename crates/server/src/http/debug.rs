//! What tabs do, over HTTP.

use super::input::{Json, Path, Query};
use crate::auth::Debug;
use crate::context::Context;
use crate::door::Refusal;
use crate::looking;
use axum::extract::State;
use baton_api::Invalid;
use baton_api::Problem;
use baton_api::debug::{
    ConsoleData, ConsoleFilters, DebugTabs, NetworkData, NetworkFilters, Reveal, TabToken, Wait,
};
use baton_debug::relay::Sight;
use serde::Serialize;
use std::time::Duration;

type Answer<T> = Result<axum::Json<T>, Refusal>;

/// The tabs that can be looked into: of the caller's sessions that are recorded, and of its cocoons.
#[utoipa::path(
    get, path = "/debug/tabs", tag = "debug", security(("api_key" = [])),
    responses((status = 200, body = DebugTabs), (status = "4XX", body = Problem))
)]
pub(super) async fn list_tabs(
    State(context): State<Context>,
    Debug(caller): Debug,
) -> Answer<DebugTabs> {
    Ok(axum::Json(looking::list_tabs(&context, &caller).await?))
}

/// The requests of a tab that fit the filters, the newest last. Secrets are hidden unless revealed.
#[utoipa::path(
    post, path = "/debug/tabs/{token}/network", tag = "debug", security(("api_key" = [])),
    params(("token" = String, Path), Wait), request_body = NetworkFilters,
    responses((status = 200, body = NetworkData), (status = "4XX", body = Problem))
)]
pub(super) async fn network(
    State(context): State<Context>,
    Debug(caller): Debug,
    Path(token): Path<String>,
    Query(how): Query<Wait>,
    Json(filters): Json<NetworkFilters>,
) -> Answer<NetworkData> {
    let token = read(&token)?;
    let found =
        looking::network(&context, &caller, &token, sight(how.reveal), &filters, length(&how))
            .await?;
    Ok(axum::Json(found.into_data(String::new(), filters.bodies || filters.id.is_some())))
}

/// The lines of a tab's console that fit the filters, the newest last. Secrets are hidden unless revealed.
#[utoipa::path(
    post, path = "/debug/tabs/{token}/console", tag = "debug", security(("api_key" = [])),
    params(("token" = String, Path), Wait), request_body = ConsoleFilters,
    responses((status = 200, body = ConsoleData), (status = "4XX", body = Problem))
)]
pub(super) async fn console(
    State(context): State<Context>,
    Debug(caller): Debug,
    Path(token): Path<String>,
    Query(how): Query<Wait>,
    Json(filters): Json<ConsoleFilters>,
) -> Answer<ConsoleData> {
    let token = read(&token)?;
    let found =
        looking::console(&context, &caller, &token, sight(how.reveal), &filters, length(&how))
            .await?;
    Ok(axum::Json(found.into_data(String::new())))
}

/// What is kept of a tab as an HTTP Archive (HAR 1.2). Secrets are hidden unless revealed.
#[utoipa::path(
    get, path = "/debug/tabs/{token}/har", tag = "debug", security(("api_key" = [])),
    params(("token" = String, Path), Reveal),
    responses(
        (status = 200, description = "An HTTP Archive, version 1.2", body = Object),
        (status = "4XX", body = Problem)
    )
)]
pub(super) async fn har(
    State(context): State<Context>,
    Debug(caller): Debug,
    Path(token): Path<String>,
    Query(Reveal { reveal }): Query<Reveal>,
) -> Answer<impl Serialize> {
    Ok(axum::Json(looking::har(&context, &caller, &read(&token)?, sight(reveal)).await?))
}

fn read(token: &str) -> Result<TabToken, Invalid> {
    token.parse().map_err(|_| Invalid {
        field: "the token",
        expected: "the token of a tab, as lists of tabs show it",
        found: "another text".to_owned(),
    })
}

fn sight(reveal: bool) -> Sight {
    if reveal { Sight::Revealed } else { Sight::Hidden }
}

fn length(wait: &Wait) -> Duration {
    Duration::from_secs(wait.wait.unwrap_or(0).into())
}
