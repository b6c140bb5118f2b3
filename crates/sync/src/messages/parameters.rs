//! Parameters of a signature: who signed, when, and for how long it is good.

use super::SIGNATURE_INPUT;
use super::untrusted::{BadField, LIFETIME, Untrusted};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use baton_session::NodeKey;
use jiff::Timestamp;
use sfv::{Integer, Parameters as Fields};

/// 16 random bytes that a sender uses once.
pub(super) type Nonce = [u8; 16];

/// The parameters of a signature. What all of them have alike is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parameters {
    /// When it was made, in seconds.
    created: i64,
    /// 16 bytes that no other signature has.
    pub(super) nonce: Nonce,
    /// Who made it.
    pub(super) key: NodeKey,
}

impl Parameters {
    /// Those of a signature that is made now.
    pub(super) fn new(key: NodeKey, now: Timestamp) -> Self {
        Self { created: now.as_second(), nonce: rand::random(), key }
    }

    /// What a header says, as far as it can be read. Whether it says nothing else is seen when it is
    /// compared with [`text`](Self::text).
    pub(super) fn read(fields: &Fields) -> Result<Self, BadField> {
        let read = || {
            let created = fields.get("created")?.as_integer().map(i64::from)?;
            let nonce = URL_SAFE_NO_PAD.decode(fields.get("nonce")?.as_string()?.as_str()).ok()?;
            let key = fields.get("keyid")?.as_string()?.as_str().parse().ok()?;
            let fits = (0..=i64::from(Integer::MAX) - LIFETIME).contains(&created);
            fits.then_some(Self { created, nonce: nonce.try_into().ok()?, key })
        };
        read().ok_or_else(|| BadField::unreadable(&SIGNATURE_INPUT))
    }

    /// The parameters in text, behind the names of what is covered.
    pub(super) fn text(&self, names: &str) -> String {
        format!(
            "{names};created={};expires={};nonce=\"{}\";keyid=\"{}\";alg=\"ed25519\";tag=\"baton-sync\"",
            self.created,
            self.expires(),
            URL_SAFE_NO_PAD.encode(self.nonce),
            self.key,
        )
    }

    /// The last second in which it is good.
    pub(super) fn expires(&self) -> i64 {
        self.created + LIFETIME
    }

    /// Refuses what is older than its life, or comes from a future as far away.
    pub(super) fn check_time(&self, now: Timestamp) -> Result<(), Untrusted> {
        let created = Timestamp::from_second(self.created).unwrap_or(Timestamp::MAX);
        let second = now.as_second();
        if second > self.expires() {
            Err(Untrusted::Expired { created, now })
        } else if self.created > second.saturating_add(LIFETIME) {
            Err(Untrusted::FromTheFuture { created, now })
        } else {
            Ok(())
        }
    }
}
