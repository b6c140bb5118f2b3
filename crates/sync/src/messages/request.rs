//! Requests of one node to another.

use super::components::{Components, authority, query, single};
use super::digest::content_digest;
use super::envelope::{Envelope, insert, seal};
use super::replays::Replays;
use super::untrusted::{BadField, Unsignable, Untrusted};
use super::{BATON_NODE, CONTENT_DIGEST};
use crate::identity::{Identity, verify_card};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_api::NodeCard;
use baton_session::{NodeSignature, json};
use http::HeaderName;
use http::header::{AUTHORIZATION, CONTENT_TYPE, IF_MATCH};
use http::request::Parts;
use jiff::Timestamp;

/// Headers that change what a request means: covered when they are there, and so nobody can add one.
const COVERED_IF_PRESENT: [HeaderName; 3] = [AUTHORIZATION, CONTENT_TYPE, IF_MATCH];
/// The longest card in a header, in bytes.
const CARD_MAX: usize = 12 << 10;

/// A request of which we know who wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Who wrote it, as that node says of itself. Whether we know the node is another question.
    pub card: NodeCard,
    /// Its signature, to which the answer is bound.
    pub signature: NodeSignature,
}

/// Signs a request with all its headers, which are not to be changed afterwards; returns the
/// signature that the answer must name. `card` is the sender's own.
pub fn sign_request(
    identity: &Identity,
    card: &NodeCard,
    parts: &mut Parts,
    body: &[u8],
    now: Timestamp,
) -> Result<NodeSignature, Unsignable> {
    insert(&mut parts.headers, BATON_NODE, URL_SAFE_NO_PAD.encode(json::bytes(card)))?;
    insert(&mut parts.headers, CONTENT_DIGEST, content_digest(body))?;
    let components = components(parts)?;
    Ok(seal(identity.secret(), &components, &mut parts.headers, now)?)
}

/// Finds out who wrote a request, and refuses it when nobody can tell, or when it came before. Ask
/// for it behind whatever says who may talk at all, so that strangers cannot fill `replays`.
pub fn verify_request(
    parts: &Parts,
    body: &[u8],
    now: Timestamp,
    replays: &Replays,
) -> Result<Verified, Untrusted> {
    let envelope = Envelope::open(&parts.headers)?;
    envelope.parameters.check_time(now)?;
    let components = components(parts)?;
    if single(&parts.headers, &CONTENT_DIGEST)? != Some(&content_digest(body)) {
        return Err(Untrusted::Digest);
    }
    let card = card_of(parts)?;
    if card.key != envelope.parameters.key {
        let signer = envelope.parameters.key.node_id();
        return Err(Untrusted::OtherSigner { card: card.key.node_id(), signer });
    }
    envelope.verify(&components)?;
    verify_card(&card)?;
    replays.note(&envelope.parameters, now)?;
    Ok(Verified { card, signature: envelope.signature })
}

/// What the signature of a request covers.
fn components(parts: &Parts) -> Result<Components, BadField> {
    Components::default()
        .derived("@method", parts.method.as_str())
        .derived("@authority", authority(&parts.uri, &parts.headers)?)
        .derived("@path", parts.uri.path())
        .derived("@query", query(&parts.uri))
        .header(&parts.headers, &CONTENT_DIGEST)?
        .header(&parts.headers, &BATON_NODE)?
        .headers_if_present(&parts.headers, &COVERED_IF_PRESENT)
}

/// The card that came with a request.
fn card_of(parts: &Parts) -> Result<NodeCard, BadField> {
    let text = single(&parts.headers, &BATON_NODE)?.filter(|text| text.len() <= CARD_MAX);
    let read = || serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text?).ok()?).ok();
    read().ok_or_else(|| BadField::unreadable(&BATON_NODE))
}
