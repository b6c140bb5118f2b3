//! Why a message is refused, and what its sender or a person at a node can do about it.

use crate::identity::UntrustedCard;
use baton_session::{BadSignature, NodeId};
use http::HeaderName;
use jiff::Timestamp;

/// How long a signature is good, in seconds; and so how far two clocks may be apart.
pub(super) const LIFETIME: i64 = 300;

/// A header that a signature covers, or is made of, and that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected one header {name} {form}, found {found}")]
pub struct BadField {
    name: String,
    form: &'static str,
    found: &'static str,
}

impl BadField {
    pub(super) fn missing(name: &HeaderName) -> Self {
        Self { name: name.to_string(), form: "in the message", found: "none" }
    }

    pub(super) fn repeated(name: &HeaderName) -> Self {
        Self { name: name.to_string(), form: "in the message", found: "several" }
    }

    pub(super) fn unreadable(name: &HeaderName) -> Self {
        Self { name: name.to_string(), form: "as a node of Baton writes it", found: "another form" }
    }
}

/// A message that cannot be signed as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the message cannot be signed: {0}")]
pub struct Unsignable(#[from] pub(super) BadField);

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
        "expected a message of the last {LIFETIME} s, found one signed at {created}, and it is {now} \
         here\nset the clocks of both machines: they are {} s apart", apart(*created, *now)
    )]
    Expired {
        /// When it was signed, by the sender's clock.
        created: Timestamp,
        /// By ours.
        now: Timestamp,
    },
    /// It is not signed yet.
    #[error(
        "expected a message from at most {LIFETIME} s ahead of this clock, found one signed at \
         {created}, and it is {now} here\nset the clocks of both machines: they are {} s apart", apart(*created, *now)
    )]
    FromTheFuture {
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
