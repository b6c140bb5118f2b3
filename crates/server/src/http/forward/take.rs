//! The way in: what another node passed on is taken if it proves it, and the answer is signed.
//!
//! The one idea: everything that is not proven is a request of a stranger. Who passes on is a node of this cluster
//! that is there, the request is for this node, and it comes once.

use crate::cluster::{Cluster, Passing};
use crate::context::Context;
use crate::error::NodeError;
use crate::ingress::Refusal;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use baton_api::ErrorCode;
use baton_session::NodeSignature;
use baton_sync::messages::{BATON_CALLER, forwarded_by, sign_forwarded_answer, verify_forwarded};

/// Which node of a cluster did it.
const DONE_BY: HeaderName = HeaderName::from_static("x-baton-node");

/// The layer around everything: takes what other nodes pass on, signs the answers to that, and says in every answer
/// which node did it.
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
                    Ok(()) => next.run(request).await,
                    Err(refusal) => refusal.into_response(),
                }
            }
            Err(refusal) => refusal.into_response(),
        }
    } else {
        next.run(request).await
    };
    if let Some(signature) = signature {
        let (identity, status) = (context.own.identity.now(), answer.status());
        let headers = answer.headers_mut();
        let signed = sign_forwarded_answer(&identity, status, headers, &signature, cluster.now());
        if let Err(error) = signed {
            tracing::error!(%error, "an answer to another node was not signed");
        }
    }
    if !answer.headers().contains_key(DONE_BY)
        && let Ok(node) = HeaderValue::from_str(&cluster.node().to_string())
    {
        answer.headers_mut().insert(DONE_BY, node);
    }
    answer
}

/// A request of which is proven who passed it on.
struct Proven {
    /// Its signature, which the answer names.
    signature: NodeSignature,
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
    *request = Request::from_parts(parts, body);
    let (key, signature) = verified.map_err(NodeError::PassedOn)?;
    let (here, found) = (cluster.node(), passing.to);
    let is_ours = if found == here {
        request.extensions_mut().insert(passing.proven(key.node_id()));
        Ok(())
    } else {
        Err(NodeError::ForOtherNode { here, found }.into())
    };
    Ok(Proven { signature, is_ours })
}
