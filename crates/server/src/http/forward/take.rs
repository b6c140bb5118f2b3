//! The way in: what another node passed on is taken if it proves it, and the answer is signed.
//!
//! The one idea: everything that is not proven is a request of a stranger. Who passes on is a node of this cluster
//! that is there, the request is for this node, and it comes once. The answer is signed when all of it is written, a
//! refusal too.

use super::whole::{IsChanged, expect};
use crate::cluster::{Cluster, Passing, SIGNED_MAX};
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::Refusal;
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use baton_api::ErrorCode;
use baton_session::NodeSignature;
use baton_sync::messages::{
    BATON_CALLER, Forwarded, Untrusted, body_digest, forwarded_by, sign_forwarded_answer,
    verify_forwarded,
};

/// Which node of a cluster did it.
const DONE_BY: HeaderName = HeaderName::from_static("x-baton-node");

/// An answer is to what another node passed on, and is signed for that: its extension.
#[derive(Clone)]
struct AnswerTo(NodeSignature);

/// The layer around everything: takes what other nodes pass on, and says in every answer which node did it.
pub(in crate::http) async fn take(
    State(context): State<Context>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(cluster) = context.cluster.clone() else { return next.run(request).await };
    let mut signature = None;
    let mut answer = if request.headers().contains_key(BATON_CALLER) {
        match prove(&cluster, &mut request).await {
            Ok(proven) => {
                signature = Some(proven.signature);
                match proven.is_ours {
                    Ok(()) => {
                        let answer = next.run(request).await;
                        if proven.is_changed.get() { changed() } else { answer }
                    }
                    Err(refusal) => refusal.into_response(),
                }
            }
            Err(refusal) => refusal.into_response(),
        }
    } else {
        next.run(request).await
    };
    if let Some(signature) = signature {
        answer.extensions_mut().insert(AnswerTo(signature));
    }
    if !answer.headers().contains_key(DONE_BY)
        && let Ok(node) = HeaderValue::from_str(&cluster.node().to_string())
    {
        answer.headers_mut().insert(DONE_BY, node);
    }
    answer
}

/// What is answered where a body was changed on its way: nobody knows what was asked.
fn changed() -> Response {
    Refusal::from(NodeError::PassedOn(Untrusted::Digest)).into_response()
}

/// The layer around that and around what writes refusals: signs the answers to what other nodes passed on, those that are
/// small with their bodies.
pub(in crate::http) async fn sign(
    State(context): State<Context>,
    request: Request,
    next: Next,
) -> Response {
    let mut answer = next.run(request).await;
    let asked = answer.extensions_mut().remove::<AnswerTo>();
    let (Some(AnswerTo(signature)), Some(cluster)) = (asked, &context.cluster) else {
        return answer;
    };
    let Some((answer, digest)) = digested(answer).await else {
        // It is not signed, so it counts for nothing.
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let (mut parts, body) = answer.into_parts();
    let (identity, now) = (context.own.identity.now(), cluster.now());
    let headers = &mut parts.headers;
    let signed = sign_forwarded_answer(&identity, parts.status, headers, digest, &signature, now);
    if let Err(error) = signed {
        tracing::error!(%error, "an answer to another node was not signed");
    }
    Response::from_parts(parts, body)
}

/// An answer, and the digest of its body where that is small and known to be; none where it broke off.
async fn digested(answer: Response) -> Option<(Response, Option<String>)> {
    let size = answer.body().size_hint().exact();
    let is_small = size.is_some_and(|size| size <= SIGNED_MAX as u64);
    if !is_small || answer.status() == StatusCode::SWITCHING_PROTOCOLS {
        return Some((answer, None));
    }
    let (parts, body) = answer.into_parts();
    let bytes = to_bytes(body, SIGNED_MAX).await.ok()?;
    let digest = body_digest(&bytes);
    Some((Response::from_parts(parts, Body::from(bytes)), Some(digest)))
}

/// A request of which is proven who passed it on.
struct Proven {
    /// Its signature, which the answer names.
    signature: NodeSignature,
    /// Whether its body turned out to be another one.
    is_changed: IsChanged,
    /// Whether it is for this node.
    is_ours: Result<(), Refusal>,
}

/// Finds out who passed a request on, and for whom.
async fn prove(cluster: &Cluster, request: &mut Request) -> Result<Proven, Refusal> {
    let unreadable = || {
        let detail = "expected a request that a node of this cluster passed on, found a header baton-caller of another form";
        Refusal::new(ErrorCode::Untrusted, detail)
    };
    let mut values = request.headers().get_all(BATON_CALLER).iter();
    let text =
        values.next().filter(|_| values.next().is_none()).and_then(|text| text.to_str().ok());
    let passing = text.and_then(Passing::read).ok_or_else(unreadable)?;
    let signer = forwarded_by(request.headers()).map_err(NodeError::PassedOn)?;
    let is_known = cluster.has(signer).await;
    let (parts, body) = std::mem::take(request).into_parts();
    let verified = verify_forwarded(&parts, cluster.now(), cluster.nonces(), is_known);
    let Forwarded { key, signature, body: digest } = verified.map_err(NodeError::PassedOn)?;
    let (body, is_changed) = match digest {
        Some(digest) => expect(body, digest),
        None => (body, IsChanged::default()),
    };
    *request = Request::from_parts(parts, body);
    let (here, found) = (cluster.node(), passing.to);
    let is_ours = if found == here {
        request.extensions_mut().insert(passing.proven(key.node_id()));
        Ok(())
    } else {
        Err(NodeError::ForOtherNode { here, found }.into())
    };
    Ok(Proven { signature, is_changed, is_ours })
}
