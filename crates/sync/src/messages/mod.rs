//! Signed messages: requests and answers between nodes, of which the receiver can tell who wrote
//! them, and that nobody changed or repeats them.
//!
//! The one idea: one fixed form, and nothing to negotiate. The form is that of HTTP Message
//! Signatures (RFC 9421) with Content-Digest (RFC 9530): Ed25519, the label `baton`, the tag
//! `baton-sync`, and a list of covered components that follows from the message alone. What has
//! another form is refused before any cryptography, even if its signature is good: so nothing can be
//! left out of what is signed.
//!
//! A request covers its method, authority, path, query, the digest of its body and the card of its
//! sender (`Baton-Node`); and the headers that change what it means, when it has them.
//! An answer covers its status, the digest of its body, and the signature of the request: so it
//! answers that request and no other.
//!
//! What is remembered of requests, so that none is taken twice, is bounded by the life of a signature: a
//! nonce is kept until its signature is too old to be taken anyway, whatever the clock says meanwhile. When
//! there is no room for one more, the request is refused: forgetting one instead would let it through
//! twice. It ends with the process. After a restart a request of the minutes before could come again, so
//! what signed requests do must bear being done twice.
//!
//! Rooms: `signature` is how a signature stands in a message; why one is refused is here. `forwarded` has the form of
//! requests that one node of a cluster passes on to another, `announced` that of what it says to all over a bus.

mod announced;
mod forwarded;
mod signature;

pub use announced::{AnnouncedSignature, announced_by, sign_announced, verify_announced};
pub use forwarded::{
    BATON_CALLER, BodyDigest, Forwarded, body_digest, forwarded_by, sign_forwarded,
    sign_forwarded_answer, verify_forwarded, verify_forwarded_answer,
};

use crate::identity::{Identity, UntrustedCard, verify_card};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_api::NodeCard;
use baton_session::once::{Once, Twice};
use baton_session::{BadSignature, NodeId, NodeKey, NodeSignature, json};
use http::HeaderName;
use http::header::{AUTHORIZATION, CONTENT_TYPE, ETAG, IF_MATCH};
use http::request::Parts;
use http::response::Parts as AnswerParts;
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use signature::{
    Components, Envelope, LABEL, Nonce, Parameters, Purpose, authority, content_digest, encoded,
    insert, query, seal, single,
};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Who sent a request: the base64url of the JSON of its sender's card.
pub const BATON_NODE: HeaderName = HeaderName::from_static("baton-node");

const CONTENT_DIGEST: HeaderName = HeaderName::from_static("content-digest");
const SIGNATURE: HeaderName = HeaderName::from_static("signature");
const SIGNATURE_INPUT: HeaderName = HeaderName::from_static("signature-input");

/// Headers that change what a request means: covered when they are there, and so nobody can add one.
const COVERED_IN_REQUEST: [HeaderName; 3] = [AUTHORIZATION, CONTENT_TYPE, IF_MATCH];
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
    Ok(seal(identity.secret(), &components, &mut parts.headers, SYNC, now)?)
}

/// Finds out who wrote a request, and refuses it when that cannot be verified, or when it came before. Ask
/// for it behind whatever says who may talk at all, so that strangers cannot fill `nonces`.
pub fn verify_request(
    parts: &Parts,
    body: &[u8],
    now: Timestamp,
    nonces: &NonceCache,
) -> Result<Verified, Untrusted> {
    let envelope = Envelope::open(&parts.headers, SYNC)?;
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
    nonces.note(&envelope.parameters, now)?;
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
        .headers_if_present(&parts.headers, &COVERED_IN_REQUEST)
}

/// The card that came with a request.
fn card_of(parts: &Parts) -> Result<NodeCard, BadField> {
    let text = single(&parts.headers, &BATON_NODE)?.filter(|text| text.len() <= CARD_MAX);
    let read = || serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text?).ok()?).ok();
    read().ok_or_else(|| BadField::unreadable(&BATON_NODE))
}

/// Headers that change what an answer means: covered when they are there.
const COVERED_IN_ANSWER: [HeaderName; 2] = [CONTENT_TYPE, ETAG];

/// Signs the answer to the request whose signature is `request`.
pub fn sign_response(
    identity: &Identity,
    parts: &mut AnswerParts,
    body: &[u8],
    request: &NodeSignature,
    now: Timestamp,
) -> Result<(), Unsignable> {
    insert(&mut parts.headers, CONTENT_DIGEST, content_digest(body))?;
    let components = components_of_answer(parts, request)?;
    seal(identity.secret(), &components, &mut parts.headers, SYNC, now)?;
    Ok(())
}

/// Checks that the node with the key `expected` answered the request whose signature is `request`.
pub fn verify_response(
    parts: &AnswerParts,
    body: &[u8],
    request: &NodeSignature,
    expected: &NodeKey,
    now: Timestamp,
) -> Result<(), Untrusted> {
    let envelope = Envelope::open(&parts.headers, SYNC)?;
    let key = envelope.parameters.key;
    if key != *expected {
        let (expected, found) = (expected.node_id(), key.node_id());
        return Err(Untrusted::OtherNode { expected, found });
    }
    envelope.parameters.check_time(now)?;
    let components = components_of_answer(parts, request)?;
    if single(&parts.headers, &CONTENT_DIGEST)? != Some(&content_digest(body)) {
        return Err(Untrusted::Digest);
    }
    envelope.verify(&components)
}

/// What the signature of an answer covers.
fn components_of_answer(
    parts: &AnswerParts,
    request: &NodeSignature,
) -> Result<Components, BadField> {
    let components = Components::default()
        .derived("@status", parts.status.as_str())
        .header(&parts.headers, &CONTENT_DIGEST)?
        .headers_if_present(&parts.headers, &COVERED_IN_ANSWER)?;
    Ok(components.signature_of_request(LABEL, encoded(request)))
}

/// How many requests are remembered unless a caller says otherwise: about 20 MB.
const MOST: usize = 1 << 18;

/// Remembers the requests that were taken.
#[derive(Debug)]
pub struct NonceCache {
    seen: Mutex<Once<[u8; 16]>>,
    most: usize,
}

impl Default for NonceCache {
    fn default() -> Self {
        Self::new(MOST)
    }
}

impl NonceCache {
    /// Remembers at most `most` requests.
    pub fn new(most: usize) -> Self {
        Self { seen: Mutex::new(Once::new(most)), most }
    }

    /// Notes a request whose signature is good, and refuses it when it was noted before.
    fn note(&self, parameters: &Parameters, now: Timestamp) -> Result<(), Untrusted> {
        self.note_at(parameters, now, Instant::now())
    }

    fn note_at(
        &self,
        parameters: &Parameters,
        now: Timestamp,
        instant: Instant,
    ) -> Result<(), Untrusted> {
        let left = parameters.expires().saturating_sub(now.as_second());
        let left = Duration::from_secs(u64::try_from(left).unwrap_or_default());
        let name = name(&parameters.key, parameters.nonce);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.spend(&name, left, instant).map_err(|twice| match twice {
            Twice::Used => Untrusted::Replayed(parameters.key.node_id()),
            Twice::Crowded => Untrusted::Crowded { limit: self.most },
        })
    }
}

/// A nonce together with its sender, so that no sender can use up another's.
fn name(key: &NodeKey, nonce: Nonce) -> [u8; 16] {
    let hash = Sha256::new().chain_update(key.as_bytes()).chain_update(nonce).finalize();
    let mut name = [0; 16];
    name.copy_from_slice(&hash[..16]);
    name
}

/// What nodes that are peers sign.
const SYNC: Purpose = Purpose { tag: "baton-sync", lifetime: 300 };

/// A header that a signature covers, or is made of, and that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected one header {name} {form}, found {found}")]
pub struct BadField {
    name: String,
    form: &'static str,
    found: &'static str,
}

impl BadField {
    fn missing(name: &HeaderName) -> Self {
        Self { name: name.to_string(), form: "in the message", found: "none" }
    }

    fn repeated(name: &HeaderName) -> Self {
        Self { name: name.to_string(), form: "in the message", found: "several" }
    }

    fn unreadable(name: &HeaderName) -> Self {
        Self { name: name.to_string(), form: "as a node of Baton writes it", found: "another form" }
    }
}

/// A message that cannot be signed as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the message cannot be signed: {0}")]
pub struct Unsignable(#[from] BadField);

/// A message whose writer is not certain, or that is no longer good.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Untrusted {
    /// There is no signature of ours.
    #[error(
        "expected a message that a node signed, found no signature in the header {0}\nonly nodes of \
         Baton are peers, and a proxy between them must pass all headers on"
    )]
    Unsigned(String),
    /// A header is missing, repeated or cannot be read.
    #[error("{0}\na proxy between the nodes must pass all headers on as they are")]
    Field(#[from] BadField),
    /// Something else is covered than what this message has.
    #[error(
        "expected a signature of the form {expected}, found {found}\na proxy between the nodes must \
         neither add nor remove headers; else the nodes are of different versions of Baton"
    )]
    OtherForm {
        /// What this message has.
        expected: String,
        /// What the signature says.
        found: String,
    },
    /// The card of the sender is not its own.
    #[error("{0}\nfind out who runs that node before you trust it")]
    Card(#[from] UntrustedCard),
    /// Another node signed than the card says.
    #[error(
        "expected a signature of node {card}, whose card came with it, found one of node {signer}
\
         find out who runs that node before you trust it"
    )]
    OtherSigner {
        /// Whose card it is.
        card: NodeId,
        /// Who signed.
        signer: NodeId,
    },
    /// A node passes a request on that is none of this cluster, or no more.
    #[error(
        "expected a request that a living node of this cluster passed on, found one of node {0}\n\
         baton node list shows which nodes there are"
    )]
    NotOfCluster(NodeId),
    /// Another node answered than the one that was asked.
    #[error(
        "expected an answer of node {expected}, found one of node {found}\nif the node there was set \
         up anew, remove the peer, register it again and compare its fingerprint"
    )]
    OtherNode {
        /// Who was asked.
        expected: NodeId,
        /// Who answered.
        found: NodeId,
    },
    /// The body is another one.
    #[error(
        "expected a body with the digest that its header says, found another body\nsend it again"
    )]
    Digest,
    /// The signature is not of this message.
    #[error(
        "{0}\nthe message was changed on its way: a proxy between the nodes must pass on host, path, \
         query and body as they are"
    )]
    Signature(#[from] BadSignature),
    /// It is too old.
    #[error(
        "expected a message of the last {limit} s, found one signed at {created}, and it is {now} \
         here\nset the clocks of both machines: they are {} s apart", apart(*created, *now)
    )]
    Expired {
        /// How long a signature is good, in seconds.
        limit: i64,
        /// When it was signed, by the sender's clock.
        created: Timestamp,
        /// By ours.
        now: Timestamp,
    },
    /// It is not signed yet.
    #[error(
        "expected a message from at most {limit} s ahead of this clock, found one signed at \
         {created}, and it is {now} here\nset the clocks of both machines: they are {} s apart", apart(*created, *now)
    )]
    FromTheFuture {
        /// How long a signature is good, in seconds.
        limit: i64,
        /// When it was signed, by the sender's clock.
        created: Timestamp,
        /// By ours.
        now: Timestamp,
    },
    /// It came before.
    #[error(
        "expected each request once, found one of node {0} that came before\nsign it anew to send it again"
    )]
    Replayed(NodeId),
    /// Too many came to remember one more.
    #[error(
        "expected at most {limit} signed requests in ten minutes, found more\nwait some minutes; a \
         request that cannot be remembered is not taken"
    )]
    Crowded {
        /// How many are remembered.
        limit: usize,
    },
}

/// How far two clocks are from each other, in seconds.
fn apart(one: Timestamp, other: Timestamp) -> u64 {
    one.as_second().abs_diff(other.as_second())
}

#[cfg(test)]
mod tests {
    use super::{NonceCache, Parameters, SYNC, Untrusted};
    use baton_session::NodeSecret;
    use jiff::Timestamp;
    use std::time::{Duration, Instant};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn signed(second: i64) -> Parameters {
        Parameters::new(NodeSecret::from_seed(&[1; 32]).key(), SYNC, at(second))
    }

    #[test]
    fn a_request_is_taken_once_for_as_long_as_it_is_good() {
        let (nonces, request) = (NonceCache::default(), signed(0));
        nonces.note(&request, at(-300)).unwrap();
        for second in [-300, 0, 299, 300] {
            let refused = nonces.note(&request, at(second)).unwrap_err();
            assert!(matches!(refused, Untrusted::Replayed(_)), "{second}: {refused}");
        }
        let mut other = request.clone();
        other.key = NodeSecret::from_seed(&[2; 32]).key();
        nonces.note(&other, at(300)).unwrap();
    }

    #[test]
    fn what_finds_no_room_is_refused_until_something_expires() {
        let (nonces, begin) = (NonceCache::new(3), Instant::now());
        for _ in 0..3 {
            nonces.note_at(&signed(0), at(0), begin).unwrap();
        }
        let later = |seconds| begin + Duration::from_secs(seconds);
        let crowded = nonces.note_at(&signed(10), at(10), later(10)).unwrap_err();
        assert_eq!(crowded, Untrusted::Crowded { limit: 3 });
        nonces.note_at(&signed(361), at(361), later(361)).unwrap();
    }

    #[test]
    fn a_clock_that_was_ahead_for_a_moment_lets_nothing_through_twice() {
        let (nonces, request) = (NonceCache::default(), signed(0));
        nonces.note(&request, at(0)).unwrap();
        nonces.note(&signed(86_400), at(86_400)).unwrap();
        let refused = nonces.note(&request, at(1)).unwrap_err();
        assert!(matches!(refused, Untrusted::Replayed(_)), "{refused}");
    }
}
