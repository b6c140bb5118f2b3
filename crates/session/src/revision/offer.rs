//! What nodes exchange of a session, what its writers may claim in it, and why it is refused.
//!
//! The one idea: a vector says "I have seen the fifth revision of that node", and only that node can
//! prove that there is one. So every entry needs a *witness*: a revision that the entry's actor wrote,
//! with at least this counter. Else anyone could write a vector that covers all that a node will ever
//! write. Only the one who wrote the counter vouches for it: what joins others may be signed by any node,
//! so it proves nothing.

use super::knowledge::VIEWS_MAX;
use super::vector::{Actor, COUNTER_MAX, Trail};
use super::{RevisionId, Signed};
use crate::id::SessionId;
use crate::peer::BadSignature;
use crate::view::SITES_MAX;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};

/// The revisions of a session at one node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Offer {
    /// Which session.
    pub session: SessionId,
    /// Those that no other one covers.
    pub heads: Vec<Signed>,
    /// The losers of merges that a head names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Signed>,
    /// Older ones: they vouch for what the heads have seen, and tell copies of a node apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Signed>,
    /// Who counted what, of many more.
    #[serde(default, skip_serializing_if = "Trail::is_empty")]
    pub trail: Trail,
}

impl Offer {
    /// Those whose content belongs to the offer: the heads and the kept ones.
    pub fn whole(&self) -> impl Iterator<Item = &Signed> {
        self.heads.iter().chain(&self.kept)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Signed> {
        self.whole().chain(&self.history)
    }

    /// A head or kept one by its name.
    pub fn find(&self, id: RevisionId) -> Option<&Signed> {
        self.whole().find(|signed| signed.id() == id)
    }
}

/// Why an offer is refused, as a whole.
///
/// Nothing of what came with it is taken.
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
    /// Its writer claims what no revision vouches for.
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

/// How many actors a vector names at most.
pub const ACTORS_MAX: usize = 256;
/// How many parents, and how many losers of merges, a revision names at most.
pub const NAMED_MAX: usize = 64;
/// How much is named that a loser had at most. Of one with more it is not said what it is.
pub const LEFT_OUT_MAX: usize = 64;
/// How many bytes the texts of a revision have together at most.
pub const TEXT_MAX: usize = 16 * 1024;
/// How far ahead of the receiver's clock a head may say it was written.
pub const AHEAD_MAX: SignedDuration = SignedDuration::from_hours(24);

/// Checks what can be seen of a revision alone.
pub(super) fn check(signed: &Signed, session: SessionId) -> Result<(), Refused> {
    let revision = signed.id();
    if signed.session != session {
        return Err(Refused::OtherSession { expected: session, found: signed.session });
    }
    check_sizes(signed)?;
    check_views(signed)?;
    if let Some(actor) = signed.author.filter(|actor| actor.node != signed.node()) {
        return Err(Refused::OtherAuthor { revision, actor });
    }
    // A counter of 0 is one that was never advanced.
    if let Some((actor, counter @ 0)) = signed.dot() {
        return Err(Refused::Forged { revision, actor, counter });
    }
    signed.verify().map_err(|source| Refused::Signature { revision, source })
}

/// Checks that it is not larger than any that is written in earnest, and that JSON holds its numbers.
fn check_sizes(signed: &Signed) -> Result<(), Refused> {
    let texts = [&signed.description, &signed.origin.created_by];
    let text = texts.iter().fold(0, |sum, text| text.len().saturating_add(sum));
    let sites = signed.within.iter().flat_map(|within| within.view.sites.iter().flatten()).count();
    let left_out = signed.about.values().map(BTreeSet::len).max().unwrap_or(0);
    let counted = [
        ("actors", signed.vector.len() as u64, ACTORS_MAX as u64),
        ("views", signed.within.len() as u64, VIEWS_MAX as u64),
        ("sites in its views", sites as u64, (VIEWS_MAX * SITES_MAX) as u64),
        ("parents", signed.parents.len() as u64, NAMED_MAX as u64),
        ("siblings", signed.conflicts.len() as u64, NAMED_MAX as u64),
        ("siblings with something left out", signed.about.len() as u64, NAMED_MAX as u64),
        ("things left out of a sibling", left_out as u64, LEFT_OUT_MAX as u64),
        ("bytes of text", text as u64, TEXT_MAX as u64),
        ("as version", signed.version, COUNTER_MAX),
        ("as size", signed.size, COUNTER_MAX),
    ];
    match counted.into_iter().find(|(_, found, limit)| found > limit) {
        Some((what, _, limit)) => Err(Refused::TooMany { revision: signed.id(), what, limit }),
        None => Ok(()),
    }
}

/// Checks that what it says of its views is in one form, and that its vector is all of it.
fn check_views(signed: &Signed) -> Result<(), Refused> {
    let knowledge = signed.knowledge();
    let is_right = knowledge.joined() == signed.vector
        && (signed.within.is_empty() || knowledge.into_within() == signed.within);
    if is_right { Ok(()) } else { Err(Refused::Views { revision: signed.id() }) }
}

/// Checks the clock of a head's writer: of heads the later one is the current one. Of older
/// revisions the time counts for nothing.
pub(super) fn check_clock(head: &Signed, now: Timestamp) -> Result<(), Refused> {
    if head.modified_at.duration_since(now) > AHEAD_MAX {
        return Err(Refused::AheadOfClock { revision: head.id(), found: head.modified_at });
    }
    Ok(())
}

/// How far each actor is known to have come: the greatest counter of its own revisions.
#[derive(Debug, Default)]
pub(super) struct Vouched(HashMap<Actor, u64>);

impl Vouched {
    /// What these revisions, whose signatures are good, vouch for.
    pub(super) fn by<'a>(revisions: impl IntoIterator<Item = &'a Signed>) -> Self {
        let mut vouched = Self::default();
        for (actor, counter) in revisions.into_iter().filter_map(|signed| signed.dot()) {
            let known = vouched.0.entry(actor).or_default();
            *known = (*known).max(counter);
        }
        vouched
    }

    /// How far an actor is known to have come; 0 when it has written nothing.
    pub(super) fn of(&self, actor: &Actor) -> u64 {
        self.0.get(actor).copied().unwrap_or(0)
    }

    /// Checks that a revision claims no more than that.
    pub(super) fn expect(&self, signed: &Signed) -> Result<(), Refused> {
        match signed.vector.iter().find(|(actor, counter)| self.of(actor) < *counter) {
            Some((actor, counter)) => {
                Err(Refused::Forged { revision: signed.id(), actor: *actor, counter })
            }
            None => Ok(()),
        }
    }
}
