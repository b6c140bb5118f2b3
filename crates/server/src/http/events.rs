//! What changes at the node, as server-sent events for clients that follow it.

use super::exchange::SignedPeer;
use super::request::Query;
use crate::auth::{Read, Sync};
use crate::context::Context;
use crate::following;
use crate::following::Change;
use crate::ingress::Refusal;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use baton_api::sync::{AskIndex, SyncStanding};
use baton_api::{Answers, Problem};
use baton_sync::{SyncError, Topic, standing};
use futures_util::stream;
use serde::Deserialize;
use serde_json::json;
use std::convert::Infallible;
use utoipa::IntoParams;

/// The longest question for the next index.
const ASKED_MAX: usize = 1 << 10;

/// How much is followed.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct HowMuch {
    /// Whether peers are asked for what they have, for as long as the stream is open.
    #[serde(default)]
    peers: bool,
}

/// What is told beside lists.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct WithSnapshots {
    /// Whether an event `snapshots` tells of each session of which something was written, such as a snapshot:
    /// its `id`, or none where too much came at once.
    #[serde(default)]
    snapshots: bool,
}

/// That something changed: an event `sessions` when the caller's sessions are others than before or stand
/// elsewhere, with the scope `debug` an event `tabs` when the tabs that can be looked into are others, and with the
/// scope `sandbox` an event `sandboxes` when the caller's sandboxes are. Of tabs and sandboxes at other nodes a
/// cluster with a bus alone tells. What it is, the lists tell.
#[utoipa::path(
    get, path = "/events", tag = "sessions", security(("api_key" = [])), params(WithSnapshots),
    responses(
        (status = 200, description = "Events", content_type = "text/event-stream", body = String),
        (status = "4XX", body = Problem)
    )
)]
pub(super) async fn changes(
    State(context): State<Context>,
    Read(caller): Read,
    Query(WithSnapshots { snapshots }): Query<WithSnapshots>,
) -> Result<impl IntoResponse, Refusal> {
    let followed = following::follow(&context, &caller, snapshots).await?;
    let events = stream::unfold(followed, async |mut followed| {
        let event = match followed.next().await? {
            Change::Sessions => Event::default().event("sessions").data("{}"),
            Change::Sandboxes => Event::default().event("sandboxes").data("{}"),
            Change::Tabs => Event::default().event("tabs").data("{}"),
            Change::Written(None) => Event::default().event("snapshots").data("{}"),
            Change::Written(Some(id)) => {
                let event = Event::default().event("snapshots");
                event.data(json!({ "id": id }).to_string())
            }
        };
        Some((Ok::<_, Infallible>(event), followed))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

/// How sync stands: an event `sync` with a `SyncStanding` now and after each change, an event `problem` with
/// a `Problem` when that cannot be found out. With `peers=true` peers are asked for what they have, and tell
/// by themselves when they have something else.
#[utoipa::path(
    get, path = "/sync/events", tag = "sync", security(("api_key" = [])), params(HowMuch),
    responses(
        (status = 200, description = "Events", content_type = "text/event-stream", body = String),
        (status = "4XX", body = Problem)
    )
)]
pub(super) async fn sync(
    State(context): State<Context>,
    Sync(caller): Sync,
    Query(HowMuch { peers }): Query<HowMuch>,
) -> impl IntoResponse {
    let followed = standing::follow(&context, &caller, peers);
    let events = stream::unfold(followed, async |mut followed| {
        let event = standing_event(&followed.next().await?);
        Some((Ok::<_, Infallible>(event), followed))
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}

fn standing_event(found: &Result<SyncStanding, SyncError>) -> Event {
    let event = match found {
        Ok(standing) => Event::default().event("sync").json_data(standing),
        Err(error) => Event::default().event("problem").json_data(error.problem()),
    };
    // Both are made of strings, numbers and lists.
    event.unwrap_or_default()
}

/// The sessions of this node for a node that has seen them: sealed, as soon as they are others, or after a
/// while the word that they are not.
#[utoipa::path(
    post, path = "/sync/index/next", tag = "between nodes", security(("api_key" = [])),
    request_body(content_type = "application/vnd.baton.sealed", content = Vec<u8>),
    responses((status = 200, content_type = "application/vnd.baton.sealed", body = Vec<u8>), (status = "4XX", body = Problem))
)]
pub(super) async fn next_index(
    State(context): State<Context>,
    from: SignedPeer,
) -> Result<Response, Refusal> {
    let AskIndex { known } = from.read(&context, Topic::NEXT_INDEX, ASKED_MAX).await?;
    let next = standing::next_index(&context, &from.peer, known).await?;
    Ok(from.tell(&context, Topic::NEXT_INDEX, next).await?)
}
