//! Requests that one node of a cluster passes on to another, and the answers: who passes on, in whose name.
//!
//! The one idea: a signature precedes the body. A request covers its method, authority, path, query and who the caller
//! is; an answer its status and the signature of the request, so it comes from the node that was asked and answers
//! nothing else. A body that is all there before it is sent is covered by its digest (RFC 9530), which is left out of
//! no message that had it. What comes as a stream, and headers that are not named here, are as good as the network
//! between the nodes: it is one's own, or TLS.

use super::signature::{
    Components, Envelope, LABEL, Purpose, authority, content_digest, digest_text, encoded, insert,
    query, seal, single,
};
use super::{BadField, CONTENT_DIGEST, NonceCache, Unsignable, Untrusted};
use crate::identity::Identity;
use baton_session::{NodeKey, NodeSignature};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, StatusCode};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

/// In whose name a request is passed on.
pub const BATON_CALLER: HeaderName = HeaderName::from_static("baton-caller");

/// A request goes at once, and both nodes reckon by the clock of one database. Nodes that signed no body said
/// `baton-forward`: neither does what the other passes on, whose answer it would not believe.
const FORWARD: Purpose = Purpose { tag: "baton-forward-2", lifetime: 30 };

/// Headers that say what a body is: covered when they are there, and so nobody can add one or take it away.
const OF_BODY: [HeaderName; 3] = [CONTENT_TYPE, CONTENT_ENCODING, CONTENT_DIGEST];

/// The digest of a body that is all there.
pub fn body_digest(body: &[u8]) -> String {
    content_digest(body)
}

/// What a body has to be, by its digest, and what was read of it.
pub struct BodyDigest {
    expected: String,
    read: Sha256,
}

impl BodyDigest {
    /// Of a body with this [digest](body_digest), of which nothing was read yet.
    pub fn new(expected: String) -> Self {
        Self { expected, read: Sha256::new() }
    }

    fn of(headers: &HeaderMap) -> Result<Option<Self>, BadField> {
        Ok(single(headers, &CONTENT_DIGEST)?.map(|expected| Self::new(expected.to_owned())))
    }

    /// Reads on.
    pub fn read(&mut self, piece: &[u8]) {
        self.read.update(piece);
    }

    /// Whether all that was read is what it has to be.
    pub fn is_met(self) -> bool {
        digest_text(self.read.finalize()) == self.expected
    }
}

/// Says of a body what it is, or that it comes as a stream.
fn say_digest(headers: &mut HeaderMap, digest: Option<String>) -> Result<(), BadField> {
    headers.remove(CONTENT_DIGEST);
    digest.map_or(Ok(()), |digest| insert(headers, CONTENT_DIGEST, digest))
}

/// Signs a request that is passed on, whose headers are not to be changed afterwards; returns the signature that
/// the answer must name. `digest` is that of its body, if that is all there; `now` is by the clock of the database.
pub fn sign_forwarded(
    identity: &Identity,
    parts: &mut Parts,
    digest: Option<String>,
    now: Timestamp,
) -> Result<NodeSignature, Unsignable> {
    say_digest(&mut parts.headers, digest)?;
    let components = components(parts)?;
    Ok(seal(identity.secret(), &components, &mut parts.headers, FORWARD, now)?)
}

/// With which key a request says that it was signed. That it was is verified by [`verify_forwarded`].
pub fn forwarded_by(headers: &HeaderMap) -> Result<NodeKey, Untrusted> {
    Ok(Envelope::open(headers, FORWARD)?.parameters.key)
}

/// A request of which is known who passed it on.
pub struct Forwarded {
    /// With which key it was signed.
    pub key: NodeKey,
    /// Its signature, which the answer names.
    pub signature: NodeSignature,
    /// What its body has to be; none where that comes as a stream.
    pub body: Option<BodyDigest>,
}

/// Finds out which node passed a request on, and refuses it when that cannot be verified, or when it came before.
/// `is_known` says whether the key is that of a node that may; nobody else's signature is looked at, and nobody
/// else's nonce remembered.
pub fn verify_forwarded(
    parts: &Parts,
    now: Timestamp,
    nonces: &NonceCache,
    is_known: bool,
) -> Result<Forwarded, Untrusted> {
    let envelope = Envelope::open(&parts.headers, FORWARD)?;
    let key = envelope.parameters.key;
    if !is_known {
        return Err(Untrusted::NotOfCluster(key.node_id()));
    }
    envelope.parameters.check_time(now)?;
    envelope.verify(&components(parts)?)?;
    nonces.note(&envelope.parameters, now)?;
    let body = BodyDigest::of(&parts.headers)?;
    Ok(Forwarded { key, signature: envelope.signature, body })
}

/// What the signature of a request covers.
fn components(parts: &Parts) -> Result<Components, BadField> {
    Components::default()
        .derived("@method", parts.method.as_str())
        .derived("@authority", authority(&parts.uri, &parts.headers)?)
        .derived("@path", parts.uri.path())
        .derived("@query", query(&parts.uri))
        .header(&parts.headers, &BATON_CALLER)?
        .headers_if_present(&parts.headers, &OF_BODY)
}

/// Signs the answer to the request whose signature is `request`. `digest` is that of its body, if that is all there.
pub fn sign_forwarded_answer(
    identity: &Identity,
    status: StatusCode,
    headers: &mut HeaderMap,
    digest: Option<String>,
    request: &NodeSignature,
    now: Timestamp,
) -> Result<(), Unsignable> {
    say_digest(headers, digest)?;
    let components = of_answer(status, headers, request)?;
    seal(identity.secret(), &components, headers, FORWARD, now)?;
    Ok(())
}

/// Checks that the node with the key `expected` answered the request whose signature is `request`; returns what the body
/// has to be, unless that comes as a stream.
pub fn verify_forwarded_answer(
    status: StatusCode,
    headers: &HeaderMap,
    request: &NodeSignature,
    expected: &NodeKey,
    now: Timestamp,
) -> Result<Option<BodyDigest>, Untrusted> {
    let envelope = Envelope::open(headers, FORWARD)?;
    let key = envelope.parameters.key;
    if key != *expected {
        let (expected, found) = (expected.node_id(), key.node_id());
        return Err(Untrusted::OtherNode { expected, found });
    }
    envelope.parameters.check_time(now)?;
    envelope.verify(&of_answer(status, headers, request)?)?;
    Ok(BodyDigest::of(headers)?)
}

/// What the signature of an answer covers.
fn of_answer(
    status: StatusCode,
    headers: &HeaderMap,
    request: &NodeSignature,
) -> Result<Components, BadField> {
    let components = Components::default()
        .derived("@status", status.as_str())
        .headers_if_present(headers, &OF_BODY)?;
    Ok(components.signature_of_request(LABEL, encoded(request)))
}
