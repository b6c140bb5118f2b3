//! What is damaged between nodes: where a revision lies, or as it came from there.
//!
//! The one idea: a peer that has something whole does not hear that it were its own, and a peer that sees a
//! part of a session hears nothing of the rest, not even what of it is damaged.

use baton_session::RevisionId;

/// Something between nodes is damaged, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DamageError {
    /// A revision is damaged, and the peer that asks sees less than all of it: it hears no more.
    #[error(
        "revision {rev} cannot be given: parts of it are damaged where it lies\n\
         there, resume the session and save it: what can be read comes back"
    )]
    Hurt {
        /// Which one.
        rev: RevisionId,
    },
    /// A revision with a part that holds something else than its kind does.
    #[error("revision {rev}: {why}")]
    NoState {
        /// Which one.
        rev: RevisionId,
        /// What was expected of which part.
        why: String,
    },
    /// A peer gave something else than it had announced.
    #[error("peer {name} gave something else than it announced: {why}")]
    OtherPart {
        /// What people call it.
        name: String,
        /// What is wrong with it.
        why: String,
    },
}
