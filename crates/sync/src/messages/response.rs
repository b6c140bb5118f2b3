//! Answers of a node to a signed request.

use super::CONTENT_DIGEST;
use super::components::{Components, single};
use super::digest::content_digest;
use super::envelope::{Envelope, LABEL, encoded, insert, seal};
use super::untrusted::{BadField, Unsignable, Untrusted};
use crate::identity::Identity;
use baton_session::{NodeKey, NodeSignature};
use http::HeaderName;
use http::header::{CONTENT_TYPE, ETAG};
use http::response::Parts;
use jiff::Timestamp;

/// Headers that change what an answer means: covered when they are there.
const COVERED_IF_PRESENT: [HeaderName; 2] = [CONTENT_TYPE, ETAG];

/// Signs the answer to the request whose signature is `request`.
pub fn sign_response(
    identity: &Identity,
    parts: &mut Parts,
    body: &[u8],
    request: &NodeSignature,
    now: Timestamp,
) -> Result<(), Unsignable> {
    insert(&mut parts.headers, CONTENT_DIGEST, content_digest(body))?;
    let components = components(parts, request)?;
    seal(identity.secret(), &components, &mut parts.headers, now)?;
    Ok(())
}

/// Checks that the node with the key `expected` answered the request whose signature is `request`.
pub fn verify_response(
    parts: &Parts,
    body: &[u8],
    request: &NodeSignature,
    expected: &NodeKey,
    now: Timestamp,
) -> Result<(), Untrusted> {
    let envelope = Envelope::open(&parts.headers)?;
    let key = envelope.parameters.key;
    if key != *expected {
        let (expected, found) = (expected.node_id(), key.node_id());
        return Err(Untrusted::OtherNode { expected, found });
    }
    envelope.parameters.check_time(now)?;
    let components = components(parts, request)?;
    if single(&parts.headers, &CONTENT_DIGEST)? != Some(&content_digest(body)) {
        return Err(Untrusted::Digest);
    }
    envelope.verify(&components)
}

/// What the signature of an answer covers.
fn components(parts: &Parts, request: &NodeSignature) -> Result<Components, BadField> {
    let components = Components::default()
        .derived("@status", parts.status.as_str())
        .header(&parts.headers, &CONTENT_DIGEST)?
        .headers_if_present(&parts.headers, &COVERED_IF_PRESENT)?;
    Ok(components.signature_of_request(LABEL, encoded(request)))
}
