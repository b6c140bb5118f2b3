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
//! sender (`Baton-Node`); and the headers of [`request`] that change what it means, when it has them.
//! An answer covers its status, the digest of its body, and the signature of the request: so it
//! answers that request and no other.
//!
//! Rooms: [`request`] and [`response`] sign and verify; `components` says what is covered,
//! `parameters` by whom, when and how often, `envelope` how both stand in the headers; `digest` is
//! that of a body; [`replays`] remembers what was seen; [`untrusted`] is why a message is refused.

mod components;
mod digest;
mod envelope;
mod parameters;
pub mod replays;
pub mod request;
pub mod response;
pub mod untrusted;

pub use replays::Replays;
pub use request::{Verified, sign_request, verify_request};
pub use response::{sign_response, verify_response};
pub use untrusted::{Unsignable, Untrusted};

use http::HeaderName;

/// Who sent a request: the base64url of the JSON of its sender's card.
pub const BATON_NODE: HeaderName = HeaderName::from_static("baton-node");

const CONTENT_DIGEST: HeaderName = HeaderName::from_static("content-digest");
const SIGNATURE: HeaderName = HeaderName::from_static("signature");
const SIGNATURE_INPUT: HeaderName = HeaderName::from_static("signature-input");
