//! Looking in at any node: a request about a tab goes to the node that its browser tells.
//!
//! The one idea: what tabs did is in the memory of one node, and the token of a tab says nothing of nodes. So who does
//! not know it asks the others which tabs they have; a browser that connects elsewhere later is found there.

use super::{Forwarding, carried, routes, sending, there};
use crate::auth::{ask, show_caller};
use crate::cluster::{Cluster, Origin};
use crate::context::Context;
use crate::everywhere;
use crate::ingress::Refusal;
use axum::extract::{FromRequestParts, Request};

/// Passes a request on to the node that has the tab which it names, if that is another one that is there.
pub(super) async fn pass_on(
    context: &Context,
    cluster: &Cluster,
    request: Request,
) -> Result<Forwarding, Refusal> {
    let (mut parts, body) = request.into_parts();
    let asked = ask(&mut parts, context).await?;
    let token = routes::tab(parts.uri.path()).and_then(|token| token.parse().ok());
    let (None, Some(token)) = (&asked.limited_peer, token) else {
        // The operation refuses it.
        return Ok(Forwarding::Here(Request::from_parts(parts, body)));
    };
    let origin = Origin::from_request_parts(&mut parts, context).await?;
    let teller = everywhere::teller(context, &asked.caller, &origin, &token).await;
    let row = match teller.filter(|node| *node != context.node) {
        Some(node) => cluster.living(node).await,
        None => None,
    };
    let Some(row) = row else { return Ok(Forwarding::Here(Request::from_parts(parts, body))) };
    show_caller(&parts, &asked.caller)?;
    let sending = sending(context, cluster, parts, Some(asked.caller)).await?;
    there(&sending, &row, carried(body).await?).await
}
