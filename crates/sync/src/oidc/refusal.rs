//! Why a token opens nothing. Its sender reads that, and what to do.
//!
//! Of tokens from unknown senders a few refusals are noted, and the others counted: who can reach a node can
//! send it nonsense, and must not be able to fill its log.

use super::ProviderError;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Why a token opens nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefusal {
    /// This node takes no tokens.
    #[error(
        "expected an API key of this node, found a token: it takes none\n\
         auth.oidc in its settings says whose it takes; with an API key of it, use --auth apikey"
    )]
    NotTaken,
    /// A token opens only what nodes ask each other.
    #[error(
        "expected an API key, found a token: that opens what nodes ask each other, and nothing else\n\
         baton keys create makes a key"
    )]
    NotHere,
    /// It is none, or none that can be read.
    #[error("expected a token in the form of a JWT, found another text")]
    Unreadable,
    /// It is signed in a way that proves nothing, or not here.
    #[error("expected a token that is signed with RS256 or ES256, found {found}")]
    Algorithm {
        /// What its header says.
        found: String,
    },
    /// Another provider gave it out.
    #[error(
        "expected a token of the issuer {expected}, found one of {found}\n\
         auth.oidc.issuer in the settings of the node that refuses it, and the issuer with which the asking node \
         registered it, must be the same, letter by letter"
    )]
    Issuer {
        /// Whose tokens are taken.
        expected: String,
        /// Whose it says that it is.
        found: String,
    },
    /// Its key is none of the provider's.
    #[error(
        "expected a token that is signed with a key of the provider, found the key {found}\n\
         the provider may have another one since: get a token anew"
    )]
    UnknownKey {
        /// What it calls its key.
        found: String,
    },
    /// Its key is not known, and the provider was asked for its keys just now.
    #[error(
        "expected a token that is signed with a known key of the provider, found the key {found}, \
         and its keys were fetched just now\ntry again in a few seconds"
    )]
    KeysJustFetched {
        /// What it calls its key.
        found: String,
        /// When they may be fetched again.
        wait: Duration,
    },
    /// Its key is not known, and the provider does not say.
    #[error(
        "the token cannot be checked: {0}\n\
         tokens are taken again as soon as that node reaches the provider"
    )]
    NoKeys(Box<ProviderError>),
    /// Another key signed it.
    #[error("expected the signature of the provider, found another one")]
    Signature,
    /// It counts no more.
    #[error(
        "expected a token that counts now, found one that expired at {found}; it is {now} here\n\
         get a token anew; when the clocks differ, set them"
    )]
    Expired {
        /// When it ended.
        found: String,
        /// What our clock says.
        now: String,
    },
    /// It does not count yet.
    #[error(
        "expected a token that counts now, found one that counts from {found} on; it is {now} here\n\
         set the clocks: one of them is wrong"
    )]
    NotYet {
        /// When it begins.
        found: String,
        /// What our clock says.
        now: String,
    },
    /// It is for another audience.
    #[error(
        "expected a token for the audience {expected}, found one for {found}\n\
         register the peer again, with the --scope or --resource that gives this audience"
    )]
    Audience {
        /// For whom it should be.
        expected: String,
        /// For whom it is.
        found: String,
    },
    /// It is of another tenant.
    #[error(
        "expected a token of the tenant {expected}, found one of {found}\n\
         register the peer again, with a client of that tenant"
    )]
    Tenant {
        /// Of which it should be.
        expected: String,
        /// Of which it is.
        found: String,
    },
    /// It was given to a client that is not let in.
    #[error(
        "expected a token of a client that is let in, found one of {found}\n\
         auth.oidc.allowed_clients in the settings of the node that refuses it names those that are"
    )]
    Client {
        /// To whom it was given.
        found: String,
    },
    /// It does not allow this.
    #[error(
        "expected a token with the role or scope {expected}, found {found}\n\
         give the client this role at the provider"
    )]
    Role {
        /// What it should allow.
        expected: String,
        /// What it allows.
        found: String,
    },
}

impl TokenRefusal {
    /// Whether the token may be taken the next time, as it is.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::KeysJustFetched { .. } | Self::NoKeys(_))
    }

    /// Whether the provider has signed what is refused.
    pub fn is_vouched_for(&self) -> bool {
        matches!(
            self,
            Self::Expired { .. }
                | Self::NotYet { .. }
                | Self::Audience { .. }
                | Self::Tenant { .. }
                | Self::Client { .. }
                | Self::Role { .. }
        )
    }

    /// What was wrong, in one word for the audit log.
    pub fn word(&self) -> &'static str {
        match self {
            Self::NotTaken | Self::NotHere => "not_taken",
            Self::Unreadable => "unreadable",
            Self::Algorithm { .. } => "algorithm",
            Self::Issuer { .. } => "issuer",
            Self::UnknownKey { .. } | Self::KeysJustFetched { .. } => "unknown_key",
            Self::NoKeys(_) => "no_keys",
            Self::Signature => "signature",
            Self::Expired { .. } => "expired",
            Self::NotYet { .. } => "not_yet",
            Self::Audience { .. } => "audience",
            Self::Tenant { .. } => "tenant",
            Self::Client { .. } => "client",
            Self::Role { .. } => "role",
        }
    }
}

/// How many are noted in a minute.
const NOTED: u32 = 10;
/// For how long they are counted together.
const WINDOW: Duration = Duration::from_mins(1);

/// What was refused lately.
#[derive(Debug, Default)]
pub(super) struct Strangers(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    since: Option<Instant>,
    noted: u32,
    /// How many were not, since the last one that was.
    unnoted: u64,
}

impl Strangers {
    /// Whether one more is to be noted, and how many before it were not.
    pub(super) fn note(&self) -> Option<u64> {
        self.note_at(Instant::now())
    }

    fn note_at(&self, now: Instant) -> Option<u64> {
        let mut counted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if counted.since.is_none_or(|since| now.duration_since(since) >= WINDOW) {
            (counted.since, counted.noted) = (Some(now), 0);
        }
        if counted.noted == NOTED {
            counted.unnoted += 1;
            return None;
        }
        counted.noted += 1;
        Some(std::mem::take(&mut counted.unnoted))
    }
}

#[cfg(test)]
mod tests {
    use super::{NOTED, Strangers, WINDOW};
    use std::time::Instant;

    #[test]
    fn a_few_are_noted_and_the_others_counted() {
        let (strangers, now) = (Strangers::default(), Instant::now());
        for _ in 0..NOTED {
            assert_eq!(strangers.note_at(now), Some(0));
        }
        for _ in 0..5 {
            assert_eq!(strangers.note_at(now), None);
        }
        assert_eq!(strangers.note_at(now + WINDOW), Some(5));
        assert_eq!(strangers.note_at(now + WINDOW), Some(0));
    }
}
