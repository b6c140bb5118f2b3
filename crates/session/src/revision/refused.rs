//! Why revisions from elsewhere are refused. Nothing of what came with them is taken.

use super::actor::Actor;
use super::id::RevisionId;
use crate::id::SessionId;
use crate::identity::BadSignature;
use jiff::Timestamp;

/// Why an offer is refused, as a whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It was changed, or someone else signed it.
    #[error("revision {revision}: {source}")]
    Signature {
        /// Which one.
        revision: RevisionId,
        /// Whose signature was expected.
        source: BadSignature,
    },
    /// It is of another session.
    #[error("expected revisions of session {expected}, found one of {found}")]
    OtherSession {
        /// The session that was offered.
        expected: SessionId,
        /// Whose revision was among them.
        found: SessionId,
    },
    /// Its writer claims what nobody vouches for.
    #[error(
        "revision {revision}: expected a revision by {} that vouches for its counter {counter}, \
         found none\nask the peer to offer its history too",
        actor.node
    )]
    Forged {
        /// Which one.
        revision: RevisionId,
        /// The entry.
        actor: Actor,
        /// How far it was advanced.
        counter: u64,
    },
    /// It advances the counter of another node than its signer's.
    #[error("revision {revision}: expected its signer to be its author, found {}", actor.node)]
    OtherAuthor {
        /// Which one.
        revision: RevisionId,
        /// Whose counter it advances.
        actor: Actor,
    },
    /// The clock of its writer is far ahead.
    #[error(
        "revision {revision}: expected it to be written by now, found {found}\nset the clock of the \
         node that wrote it, and save the session there once more"
    )]
    AheadOfClock {
        /// Which one.
        revision: RevisionId,
        /// When it says it was written.
        found: Timestamp,
    },
    /// What it says of its views is in disorder.
    #[error("revision {revision}: expected its views in order, and its vector to be all of theirs")]
    Views {
        /// Which one.
        revision: RevisionId,
    },
    /// It is larger than any that is written in earnest.
    #[error("revision {revision}: expected at most {limit} {what}, found more")]
    TooMany {
        /// Which one.
        revision: RevisionId,
        /// Of what.
        what: &'static str,
        /// How many it may have.
        limit: u64,
    },
    /// It names a loser that did not come with it.
    #[error("revision {revision}: expected its sibling {missing} beside it, found none")]
    Incomplete {
        /// Which one.
        revision: RevisionId,
        /// What it names.
        missing: RevisionId,
    },
    /// More conflicts than anyone will look through.
    #[error(
        "expected at most {limit} conflicting revisions of a session, found more\nbaton sync resolve \
         keeps one of those that are there"
    )]
    TooManyHeads {
        /// How many there may be.
        limit: usize,
    },
    /// More revisions than a node remembers.
    #[error("expected an offer of at most {limit} revisions, found {found}")]
    TooLong {
        /// How many there may be.
        limit: usize,
        /// How many there are.
        found: usize,
    },
}
