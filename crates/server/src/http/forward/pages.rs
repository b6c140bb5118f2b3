//! Signing in to the page at any node: a code, and the state of who comes back from a provider, go to the node that gave
//! them out.
//!
//! The one idea: both count once, for minutes, and are in the memory of one node, whose mark is at their end. The cookie by
//! which that node knows the browser goes along, and no other one. The sign-in that comes of them stands in the database;
//! so once it is there, no node is needed any more.

use super::send::NodeAnswer;
use super::{Forwarding, keep, routes, sending};
use crate::cluster::{Carried, Cluster};
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::Refusal;
use crate::page::cookie_beside;
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
    let brought = brought(&parts, kept.as_ref());
    let mark = brought.as_deref().and_then(NodeMark::at_end_of);
    let row = mark.and_then(|mark| cluster.marked(mark));
    // What no node gave out that is there, this one refuses as any would.
    let (Some(row), Some(kept)) = (row, kept.clone()) else {
        return Ok(Forwarding::Here(Request::from_parts(parts, kept.map_or(body, Body::from))));
    };
    let mut sending = sending(context, cluster, parts, None).await?;
    let brought = brought.unwrap_or_default();
    sending.cookie = cookie_beside(&brought, &sending.parts.headers);
    match sending.try_send(&row, Carried::Whole(kept.clone())).await? {
        Ok(NodeAnswer::Answer(answer) | NodeAnswer::Misdirected(answer)) => {
            Ok(Forwarding::There(answer))
        }
        Err(unreachable) if unreachable.may_have_begun => Err(NodeError::from(unreachable).into()),
        Err(_) => Ok(Forwarding::Here(Request::from_parts(sending.parts, Body::from(kept)))),
    }
}

/// The code of a sign-in, or the state of who comes back.
fn brought(parts: &Parts, body: Option<&Bytes>) -> Option<String> {
    if parts.method == Method::GET {
        return routes::state(parts.uri.query());
    }
    let PageSignIn { code } = serde_json::from_slice(body?).ok()?;
    code
}
