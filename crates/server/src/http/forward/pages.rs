//! Signing in to the page at any node: a code, and the state of who comes back from a provider, go to the node that gave
//! them out.
//!
//! The one idea: both count once, for minutes, and are in the memory of one node, whose mark is at their end. The sign-in
//! that comes of them stands in the database; so once it is there, no node is needed any more.

use super::send::NodeAnswer;
use super::{Forwarding, keep, routes, sending};
use crate::cluster::{Carried, Cluster};
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::Refusal;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::Method;
use axum::http::request::Parts;
use baton_api::PageSignIn;
use baton_session::NodeMark;

/// Passes a sign-in on to the node that gave out what it brings, if that is another one that is there.
pub(super) async fn pass_on(
    context: &Context,
    cluster: &Cluster,
    request: Request,
) -> Result<Forwarding, Refusal> {
    let (parts, body) = request.into_parts();
    let (body, kept) = keep(body).await?;
    let row = mark(&parts, kept.as_ref()).and_then(|mark| cluster.marked(mark));
    // What no node gave out that is there, this one refuses as any would.
    let (Some(row), Some(kept)) = (row, kept.clone()) else {
        return Ok(Forwarding::Here(Request::from_parts(parts, kept.map_or(body, Body::from))));
    };
    let sending = sending(context, cluster, parts, None).await?;
    match sending.try_send(&row, Carried::Whole(kept.clone())).await? {
        Ok(NodeAnswer::Answer(answer) | NodeAnswer::Misdirected(answer)) => {
            Ok(Forwarding::There(answer))
        }
        Err(unreachable) if unreachable.may_have_begun => Err(NodeError::from(unreachable).into()),
        Err(_) => Ok(Forwarding::Here(Request::from_parts(sending.parts, Body::from(kept)))),
    }
}

/// The mark in the code of a sign-in, or in the state of who comes back.
fn mark(parts: &Parts, body: Option<&Bytes>) -> Option<NodeMark> {
    if parts.method == Method::GET {
        return NodeMark::at_end_of(&routes::state(parts.uri.query())?);
    }
    let PageSignIn { code } = serde_json::from_slice(body?).ok()?;
    NodeMark::at_end_of(&code?)
}
