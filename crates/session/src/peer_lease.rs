//! Peer leases: who holds a session that several nodes have, and for which term.

use crate::id::NodeId;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How many terms a node may miss: more than sessions are resumed in a lifetime.
const FURTHEST: i64 = 1 << 32;

/// Who holds a shared session: the node that runs its browser, or is about to.
///
/// Its term counts between nodes only; within one database, the terms of that database count. Each
/// node tells of its own peer lease and of no other one, so nobody can be robbed of a session by what a
/// third one says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "Lease", rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Lease))]
pub struct PeerLease {
    /// The holder.
    pub node: NodeId,
    /// One more than that of the holder before.
    pub term: Term,
    /// Since when, by the holder's clock.
    pub since: Timestamp,
    /// Whether the holder has given it back, and nobody holds the session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub released: bool,
}

impl PeerLease {
    /// The peer lease that comes after `known`.
    pub fn after(known: Option<Self>, node: NodeId, now: Timestamp) -> Self {
        let term = known.map_or_else(Term::default, |known| known.term).next();
        Self { node, term, since: now, released: false }
    }

    /// Whether this one counts, and not the other. Two nodes that took a session without reaching
    /// each other have the same term; then the greater id counts. So all come to the same answer, in
    /// whatever order they hear.
    pub fn supersedes(&self, other: &Self) -> bool {
        let rank = |peer_lease: &Self| (peer_lease.term, peer_lease.node, peer_lease.released);
        rank(self) > rank(other)
    }

    /// Whether a node that tells the truth may say this, where `known` is known: terms go up by one for
    /// each holder, and one that leaps ahead would leave no room above it.
    pub fn is_plausible(&self, known: Option<Self>) -> bool {
        let known = known.map_or_else(Term::default, |known| known.term);
        self.term.to_i64() > 0 && self.term.to_i64().saturating_sub(known.to_i64()) <= FURTHEST
    }

    /// Whether somebody else than `node` holds the session by it.
    pub fn is_held_by_other(&self, node: NodeId) -> bool {
        !self.released && self.node != node
    }
}

/// The number of a holder's time with a session. Each new holder gets a higher one, so that what an
/// earlier holder writes late can be told from what the present one writes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Term(i64);

impl Term {
    /// A term as the database counts it.
    pub fn from_i64(number: i64) -> Self {
        Self(number)
    }

    /// The one after it.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The number for the database.
    pub fn to_i64(self) -> i64 {
        self.0
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::{PeerLease, Term};
    use crate::id::NodeId;
    use jiff::Timestamp;

    fn node(byte: u8) -> NodeId {
        uuid::Uuid::from_bytes([byte; 16]).to_string().parse().unwrap()
    }

    #[test]
    fn of_two_leases_exactly_one_counts() {
        let now = Timestamp::UNIX_EPOCH;
        let first = PeerLease::after(None, node(1), now);
        let second = PeerLease::after(Some(first), node(2), now);
        let third = PeerLease::after(Some(first), node(3), now);
        let given_back = PeerLease { released: true, ..first };
        assert!(second.supersedes(&first) && !first.supersedes(&second));
        assert!(second.supersedes(&given_back), "a lease is given back before the next begins");
        assert!(third.supersedes(&second) && !second.supersedes(&third), "taken at the same time");
        assert!(given_back.supersedes(&first) && !first.supersedes(&given_back));
        assert!(!first.supersedes(&first));
    }

    #[test]
    fn a_term_that_leaves_no_room_above_it_is_not_plausible() {
        let now = Timestamp::UNIX_EPOCH;
        let first = PeerLease::after(None, node(1), now);
        let far = |term| PeerLease { term: Term::from_i64(term), ..first };
        assert!(first.is_plausible(None) && far(1 << 32).is_plausible(None));
        assert!(far((1 << 32) + 1).is_plausible(Some(first)));
        for term in [(1 << 32) + 1, i64::MAX, 0, -1] {
            assert!(!far(term).is_plausible(None), "{term}");
        }
    }

    #[test]
    fn who_holds_a_session_is_another_node_until_it_is_given_back() {
        let peer_lease = PeerLease::after(None, node(1), Timestamp::UNIX_EPOCH);
        assert!(peer_lease.is_held_by_other(node(2)) && !peer_lease.is_held_by_other(node(1)));
        assert!(!PeerLease { released: true, ..peer_lease }.is_held_by_other(node(2)));
    }
}
