//! Requests that one node of a cluster passes on to another, and the answers: who passes on, in whose name.
//!
//! The one idea: bodies are streams, so what is signed is all that precedes them. A request covers its method,
//! authority, path, query and who the caller is; an answer its status and the signature of the request, so it comes
//! from the node that was asked and answers nothing else. Bodies are as good as the network between the nodes:
//! it is one's own, or TLS.

use super::signature::{Components, Envelope, LABEL, Purpose, authority, encoded, query, seal};
use super::{BadField, NonceCache, Unsignable, Untrusted};
use crate::identity::Identity;
use baton_session::{NodeKey, NodeSignature};
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, HeaderName, StatusCode};
use jiff::Timestamp;

/// In whose name a request is passed on.
pub const BATON_CALLER: HeaderName = HeaderName::from_static("baton-caller");

/// A request goes at once, and both nodes reckon by the clock of one database.
const FORWARD: Purpose = Purpose { tag: "baton-forward", lifetime: 30 };

/// Signs a request that is passed on, whose headers are not to be changed afterwards; returns the signature that
/// the answer must name. `now` is by the clock of the database.
pub fn sign_forwarded(
    identity: &Identity,
    parts: &mut Parts,
    now: Timestamp,
) -> Result<NodeSignature, Unsignable> {
    let components = components(parts)?;
    Ok(seal(identity.secret(), &components, &mut parts.headers, FORWARD, now)?)
}

/// With which key a request says that it was signed. That it was is verified by [`verify_forwarded`].
pub fn forwarded_by(headers: &HeaderMap) -> Result<NodeKey, Untrusted> {
    Ok(Envelope::open(headers, FORWARD)?.parameters.key)
}

/// Finds out which node passed a request on, and refuses it when that cannot be verified, or when it came before.
/// `is_known` says whether the key is that of a node that may; nobody else's signature is looked at, and nobody
/// else's nonce remembered.
pub fn verify_forwarded(
    parts: &Parts,
    now: Timestamp,
    nonces: &NonceCache,
    is_known: bool,
) -> Result<(NodeKey, NodeSignature), Untrusted> {
    let envelope = Envelope::open(&parts.headers, FORWARD)?;
    let key = envelope.parameters.key;
    if !is_known {
        return Err(Untrusted::NotOfCluster(key.node_id()));
    }
    envelope.parameters.check_time(now)?;
    envelope.verify(&components(parts)?)?;
    nonces.note(&envelope.parameters, now)?;
    Ok((key, envelope.signature))
}

/// What the signature of a request covers.
fn components(parts: &Parts) -> Result<Components, BadField> {
    Components::default()
        .derived("@method", parts.method.as_str())
        .derived("@authority", authority(&parts.uri, &parts.headers)?)
        .derived("@path", parts.uri.path())
        .derived("@query", query(&parts.uri))
        .header(&parts.headers, &BATON_CALLER)?
        .headers_if_present(&parts.headers, &[CONTENT_TYPE])
}

/// Signs the answer to the request whose signature is `request`.
pub fn sign_forwarded_answer(
    identity: &Identity,
    status: StatusCode,
    headers: &mut HeaderMap,
    request: &NodeSignature,
    now: Timestamp,
) -> Result<(), Unsignable> {
    seal(identity.secret(), &of_answer(status, request), headers, FORWARD, now)?;
    Ok(())
}

/// Checks that the node with the key `expected` answered the request whose signature is `request`.
pub fn verify_forwarded_answer(
    status: StatusCode,
    headers: &HeaderMap,
    request: &NodeSignature,
    expected: &NodeKey,
    now: Timestamp,
) -> Result<(), Untrusted> {
    let envelope = Envelope::open(headers, FORWARD)?;
    let key = envelope.parameters.key;
    if key != *expected {
        let (expected, found) = (expected.node_id(), key.node_id());
        return Err(Untrusted::OtherNode { expected, found });
    }
    envelope.parameters.check_time(now)?;
    envelope.verify(&of_answer(status, request))
}

/// What the signature of an answer covers.
fn of_answer(status: StatusCode, request: &NodeSignature) -> Components {
    let components = Components::default().derived("@status", status.as_str());
    components.signature_of_request(LABEL, encoded(request))
}
