//! The board that agents share, over HTTP.

use super::answer::{Answer, answer};
use super::request::Json;
use crate::auth::{Drive, Read};
use crate::context::Context;
use crate::ingress::Refusal;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use baton_api::{
    Answers, ChangeFederation, DrivenSessions, FederationChange, FederationView, Problem,
};
use baton_runtime::board::Followed;
use baton_runtime::{RuntimeError, board};
use futures_util::stream::{self, Stream};
use std::convert::Infallible;

/// The board as it is now, and who drives which session. It is the local owner's.
#[utoipa::path(
    get, path = "/federation", tag = "federation", security(("api_key" = [])),
    responses((status = 200, body = FederationView), (status = "4XX", body = Problem))
)]
pub(super) async fn show(
    State(context): State<Context>,
    Read(caller): Read,
) -> Answer<FederationView> {
    answer(board::show(&context, &caller).await?).await
}

/// Does something with the board; it is on disk when this answers.
#[utoipa::path(
    post, path = "/federation", tag = "federation", security(("api_key" = [])),
    request_body = ChangeFederation,
    responses((status = 200, body = FederationChange), (status = "4XX", body = Problem))
)]
pub(super) async fn change(
    State(context): State<Context>,
    Drive(caller): Drive,
    Json(request): Json<ChangeFederation>,
) -> Answer<FederationChange> {
    answer(board::change(&context, &caller, request).await?).await
}

/// Which agent drives which of the caller's sessions.
#[utoipa::path(
    get, path = "/federation/sessions", tag = "federation", security(("api_key" = [])),
    responses((status = 200, body = DrivenSessions), (status = "4XX", body = Problem))
)]
pub(super) async fn sessions(
    State(context): State<Context>,
    Read(caller): Read,
) -> Answer<DrivenSessions> {
    answer(board::driven(&context, &caller).await?).await
}

/// The board as server-sent events: an event `board` with a `FederationView` now and after each change,
/// an event `problem` with a `Problem` when it cannot be read.
#[utoipa::path(
    get, path = "/federation/events", tag = "federation", security(("api_key" = [])),
    responses(
        (status = 200, description = "Events", content_type = "text/event-stream", body = String),
        (status = "4XX", body = Problem)
    )
)]
pub(super) async fn events(
    State(context): State<Context>,
    Read(caller): Read,
) -> Result<impl IntoResponse, Refusal> {
    let followed = board::follow(&context, &caller).await?;
    Ok(Sse::new(board_events(followed)).keep_alive(KeepAlive::default()))
}

/// The events of a board that is followed, until the node ends.
fn board_events(followed: Followed) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(followed, async |mut followed| {
        let event = event(&followed.next().await?);
        Some((Ok(event), followed))
    })
}

fn event(seen: &Result<FederationView, RuntimeError>) -> Event {
    let event = match seen {
        Ok(view) => Event::default().event("board").json_data(view),
        Err(error) => Event::default().event("problem").json_data(error.problem()),
    };
    // Both are made of strings, numbers and what came out of JSON.
    event.unwrap_or_default()
}
