//! Browsers of people at any node: a code that pairs one, and a ticket that opens its connection, go to the node that gave
//! them out.
//!
//! The one idea: both count once, and are in the memory of one node. A ticket ends with the whole mark of it; a code,
//! which a person types, with two letters of it, and the few nodes that may be meant are asked one after the other. What
//! a browser then tells is at the node that it asked for its ticket, and every node finds it there.

use super::send::NodeAnswer;
use super::{Forwarding, keep, sending, there};
use crate::cluster::{Carried, Cluster};
use crate::context::Context;
use crate::error::NodeError;
use crate::http::signaling;
use crate::ingress::Refusal;
use crate::paired;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Method, StatusCode};
use baton_api::debug::ExchangePairing;
use baton_session::NodeMark;
use secrecy::ExposeSecret;

/// Passes a request of a browser on to the node that gave out what it brings, if that is another one that is there.
pub(super) async fn pass_on(
    context: &Context,
    cluster: &Cluster,
    request: Request,
) -> Result<Forwarding, Refusal> {
    if request.method() == Method::POST {
        return exchange(context, cluster, request).await;
    }
    let (parts, body) = request.into_parts();
    let mark = signaling::ticket(&parts).and_then(|it| NodeMark::at_end_of(it.expose_secret()));
    // Who comes with a key, or with a ticket of a node that is gone, stays here.
    let Some(row) = mark.and_then(|mark| cluster.marked(mark)) else {
        return Ok(Forwarding::Here(Request::from_parts(parts, body)));
    };
    let sending = sending(context, cluster, parts, None).await?;
    there(&sending, &row, body).await
}

/// The code in a body of a few kilobytes; empty where it makes no sense.
fn code_in(body: &[u8]) -> String {
    let asked = serde_json::from_slice::<ExchangePairing>(body);
    asked.map(|asked| asked.code).unwrap_or_default()
}

/// Has a code exchanged by the node that knows it.
async fn exchange(
    context: &Context,
    cluster: &Cluster,
    request: Request,
) -> Result<Forwarding, Refusal> {
    let (parts, body) = request.into_parts();
    let (body, kept) = keep(body).await?;
    let Some(kept) = kept else { return Ok(Forwarding::Here(Request::from_parts(parts, body))) };
    let code = code_in(&kept);
    let mut rows = cluster.others();
    rows.retain(|row| paired::may_be_of(&code, row.member.node.mark()));
    if rows.is_empty() {
        return Ok(Forwarding::Here(Request::from_parts(parts, Body::from(kept))));
    }
    let sending = sending(context, cluster, parts, None).await?;
    for row in rows {
        match sending.try_send(&row, Carried::Whole(kept.clone())).await? {
            Ok(NodeAnswer::Answer(answer)) if answer.status() != StatusCode::UNAUTHORIZED => {
                return Ok(Forwarding::There(answer));
            }
            Err(unreachable) if unreachable.may_have_begun => {
                return Err(NodeError::from(unreachable).into());
            }
            // It does not know the code.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(Forwarding::Here(Request::from_parts(sending.parts, Body::from(kept))))
}
