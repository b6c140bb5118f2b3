//! What one node of a cluster says to all others over a bus: who says it, and on which subject.
//!
//! The one idea: a bus is anybody's, so a message is believed for its signature alone. That covers the subject and
//! the digest of the body, under a tag of its own: it is good on no other subject, and as no request.

use super::signature::{Components, Envelope, Purpose, content_digest, seal};
use super::{SIGNATURE, SIGNATURE_INPUT, Unsignable, Untrusted};
use crate::identity::Identity;
use baton_session::NodeKey;
use http::{HeaderMap, HeaderName, HeaderValue};
use jiff::Timestamp;

/// A message goes at once, and all nodes reckon by the clock of one database.
const ANNOUNCED: Purpose = Purpose { tag: "baton-bus", lifetime: 30 };

/// The two texts of a signature, as they would stand in headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnouncedSignature {
    /// What is covered, who signed, and when: `Signature-Input`.
    pub input: String,
    /// The signature itself: `Signature`.
    pub signature: String,
}

/// Signs what is said on a subject. `now` is by the clock of the database.
pub fn sign_announced(
    identity: &Identity,
    subject: &str,
    body: &[u8],
    now: Timestamp,
) -> Result<AnnouncedSignature, Unsignable> {
    let mut headers = HeaderMap::new();
    seal(identity.secret(), &components(subject, body), &mut headers, ANNOUNCED, now)?;
    let text = |name: &HeaderName| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    Ok(AnnouncedSignature { input: text(&SIGNATURE_INPUT), signature: text(&SIGNATURE) })
}

/// With which key a message says that it was signed. That it was is verified by [`verify_announced`].
pub fn announced_by(signature: &AnnouncedSignature) -> Result<NodeKey, Untrusted> {
    Ok(open(signature)?.parameters.key)
}

/// Refuses a message whose signature is not that of its key on this subject, or which is too old or of the future.
pub fn verify_announced(
    signature: &AnnouncedSignature,
    subject: &str,
    body: &[u8],
    now: Timestamp,
) -> Result<(), Untrusted> {
    let envelope = open(signature)?;
    envelope.parameters.check_time(now)?;
    envelope.verify(&components(subject, body))
}

fn open(signature: &AnnouncedSignature) -> Result<Envelope, Untrusted> {
    let mut headers = HeaderMap::new();
    let fields = [(SIGNATURE_INPUT, &signature.input), (SIGNATURE, &signature.signature)];
    for (name, text) in fields {
        let unsigned = || Untrusted::Unsigned(name.to_string());
        headers.insert(&name, HeaderValue::from_str(text).map_err(|_| unsigned())?);
    }
    Envelope::open(&headers, ANNOUNCED)
}

/// What the signature covers.
fn components(subject: &str, body: &[u8]) -> Components {
    let components = Components::default().derived("baton-subject", subject);
    components.derived("content-digest", content_digest(body))
}
