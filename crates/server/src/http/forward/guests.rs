//! Guests at any node: what one asks for goes to the node of their ask, which alone knows it.
//!
//! The one idea: an ask is in the memory of one node. What opens it, the link and what a guest's page keeps, ends with
//! a mark of that node; so a balancer may send a guest anywhere, and no node has to ask the others.

use super::{Forwarding, carried, keep, routes, sending, there};
use crate::cluster::{Carried, Cluster};
use crate::context::Context;
use crate::ingress::Refusal;
use crate::page::PageHalves;
use axum::body::Bytes;
use axum::extract::Request;
use axum::http::Method;
use axum::http::request::Parts;
use baton_session::NodeMark;
use serde::Deserialize;

/// What a guest shows who has not opened anything yet.
#[derive(Deserialize)]
struct Shown {
    secret: String,
}

/// Passes a request of a guest on, if its ask is that of another node that is there.
pub(super) async fn pass_on(
    context: &Context,
    cluster: &Cluster,
    request: Request,
) -> Result<Forwarding, Refusal> {
    let (parts, body) = request.into_parts();
    let is_first = parts.method == Method::POST && routes::brings_link(parts.uri.path());
    let (body, kept) = if is_first { keep(body).await? } else { (body, None) };
    let row = mark(&parts, kept.as_ref()).and_then(|mark| cluster.marked(mark));
    // Where nobody knows it, the operation says so.
    let Some(row) = row else { return Ok(Forwarding::Here(Request::from_parts(parts, body))) };
    let sending = sending(context, cluster, parts, None).await?;
    let sent = match kept {
        Some(kept) => Carried::Whole(kept),
        None => carried(body).await?,
    };
    there(&sending, &row, sent).await
}

/// The mark in what a guest shows: in the link, in the address of a picture, or in what their page keeps.
fn mark(parts: &Parts, body: Option<&Bytes>) -> Option<NodeMark> {
    if let Some(body) = body {
        let Shown { secret } = serde_json::from_slice(body).ok()?;
        return NodeMark::at_end_of(&secret);
    }
    if let Some(mark) = routes::node_in(parts.uri.query()) {
        return NodeMark::at_end_of(&mark);
    }
    NodeMark::at_end_of(PageHalves::guests_value(&parts.headers)?)
}
