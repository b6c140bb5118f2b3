//! What a node with room does: a new session, or one whose own node is not there or is full.
//!
//! The one idea: the node that was asked chooses by what it knows, and asks; one that has no room after all says so
//! before it begins anything, and then the next one is asked, also where that one was this node itself. A node that
//! cannot be reached has begun nothing either.

use super::send::{NodeAnswer, Sending};
use super::{Forwarding, read_in, read_whole, sending};
use crate::auth::{ask, show_caller};
use crate::cluster::{Candidate, Carried, Cluster, Kind, PROBLEM_MAX, Wanted, problem_in};
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::Refusal;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use baton_api::{ErrorCode, Problem};
use baton_runtime::Caller;
use baton_session::NodeLabel;
use baton_store::ClusterRow;
use serde::Deserialize;
use std::collections::BTreeSet;

/// What of a new session says where it can be.
#[derive(Deserialize)]
struct SessionPlacement {
    #[serde(default)]
    labels: BTreeSet<NodeLabel>,
    /// Folders of the machine of the node that was asked.
    #[serde(default)]
    files: Vec<serde::de::IgnoredAny>,
}

/// Opens a new session at a node with room.
pub(super) async fn open(
    context: &Context,
    cluster: &Cluster,
    request: Request,
) -> Result<Forwarding, Refusal> {
    let (mut parts, body) = request.into_parts();
    let asked = ask(&mut parts, context).await?;
    let here = |parts, body| Ok(Forwarding::Here(Request::from_parts(parts, body)));
    if asked.limited_peer.is_some() {
        // The operation refuses it.
        return here(parts, body);
    }
    let (parts, kept) = read_whole(parts, body).await?;
    // What makes no sense is refused by the operation.
    let Some(SessionPlacement { labels, files }) = read_in(&kept).await else {
        return here(parts, Body::from(kept));
    };
    if !files.is_empty() {
        return here(parts, Body::from(kept));
    }
    show_caller(&parts, &asked.caller)?;
    let wanted = Wanted { labels, ..Wanted::default() };
    place(context, cluster, parts, asked.caller, &kept, &wanted).await
}

/// Passes a request on to the nodes that have room, one after the other, until one of them does it.
pub(super) async fn place(
    context: &Context,
    cluster: &Cluster,
    parts: Parts,
    caller: Caller,
    body: &Bytes,
    wanted: &Wanted<'_>,
) -> Result<Forwarding, Refusal> {
    let candidates = cluster.find_candidates(context.room(), wanted).await;
    let what = wanted.what;
    let candidates = candidates.map_err(|found| NodeError::NoNodeHasRoom { what, found })?;
    let sending = sending(context, cluster, parts, Some(caller)).await?;
    let is_there = |candidate: &Candidate| matches!(candidate, Candidate::There(_));
    let here = candidates.iter().position(|candidate| !is_there(candidate));
    let before = here.unwrap_or(candidates.len());
    let mut rows: Vec<ClusterRow> = candidates.into_iter().filter_map(Candidate::there).collect();
    let after = rows.split_off(before);
    match try_in_turn(&sending, rows, body, what).await? {
        Err(_) if here.is_some() => {
            let request = Request::from_parts(sending.parts.clone(), Body::from(body.clone()));
            let others = Others { sending, body: body.clone(), rows: after, what };
            Ok(Forwarding::HereFirst(request, Box::new(others)))
        }
        Ok(answer) | Err(Some(NotBegun::Full(answer))) => Ok(Forwarding::There(answer)),
        Err(Some(NotBegun::Unreachable(refusal))) => Err(refusal),
        Err(None) => {
            let found = "no node that is there".to_owned();
            Err(NodeError::NoNodeHasRoom { what, found }.into())
        }
    }
}

/// Asks nodes, one after the other, until one of them does it; fails with why the last one did not begin it.
async fn try_in_turn(
    sending: &Sending,
    rows: Vec<ClusterRow>,
    body: &Bytes,
    what: Kind,
) -> Result<Result<Response, Option<NotBegun>>, Refusal> {
    let mut last = None;
    for row in rows {
        sending.cluster.note_sent(&row, what);
        match attempt(sending, &row, body).await? {
            Attempt::Answered(answer) => return Ok(Ok(answer)),
            Attempt::NotBegun(refused) => last = Some(refused),
        }
    }
    Ok(Err(last))
}

/// The nodes that are asked where this one, which was chosen before them, finds that it has no room: of requests that
/// come together, all see the same place.
pub(super) struct Others {
    sending: Sending,
    body: Bytes,
    rows: Vec<ClusterRow>,
    what: Kind,
}

impl Others {
    /// What this node answered, unless that is that it has no room, and another one has.
    pub(super) async fn unless_full(self, answer: Response) -> Response {
        let refused = answer.extensions().get::<Problem>().map(|problem| problem.code);
        if refused != Some(ErrorCode::NoRoom) {
            return answer;
        }
        let Self { sending, body, rows, what } = self;
        match try_in_turn(&sending, rows, &body, what).await {
            Ok(Ok(done)) => done,
            Ok(Err(_)) => answer,
            Err(refusal) => refusal.into_response(),
        }
    }
}

/// What became of asking one node.
enum Attempt {
    /// It did what was asked, or refused it for a reason that any node has.
    Answered(Response),
    /// Nothing was begun there.
    NotBegun(NotBegun),
}

enum NotBegun {
    /// It has no room: its answer.
    Full(Response),
    /// It was not reached.
    Unreachable(Refusal),
}

async fn attempt(sending: &Sending, row: &ClusterRow, body: &Bytes) -> Result<Attempt, Refusal> {
    let answer = match sending.try_send(row, Carried::Whole(body.clone())).await? {
        Ok(NodeAnswer::Answer(answer) | NodeAnswer::Misdirected(answer)) => answer,
        Err(unreachable) if unreachable.may_have_begun => {
            return Err(NodeError::from(unreachable).into());
        }
        Err(unreachable) => {
            let refusal = NodeError::from(unreachable).into();
            return Ok(Attempt::NotBegun(NotBegun::Unreachable(refusal)));
        }
    };
    if answer.status() != StatusCode::SERVICE_UNAVAILABLE {
        return Ok(Attempt::Answered(answer));
    }
    let (parts, body) = answer.into_parts();
    let bytes = to_bytes(body, PROBLEM_MAX)
        .await
        .map_err(|_| Refusal::new(ErrorCode::Internal, "the answer of another node broke off"))?;
    let is_full = problem_in(&bytes).is_some_and(|problem| problem.code == ErrorCode::NoRoom);
    let answer = Response::from_parts(parts, Body::from(bytes));
    Ok(if is_full { Attempt::NotBegun(NotBegun::Full(answer)) } else { Attempt::Answered(answer) })
}
