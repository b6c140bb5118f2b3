//! What two nodes tell each other of one session. It travels sealed, so no schema shows it.

use baton_session::revision::PartList;
use baton_session::{Lease, PartHash, RevisionId, View, revision::Offer};
use serde::{Deserialize, Serialize};

/// The revisions of a session, and of which parts they are made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// Heads, kept ones, and what is needed to believe them.
    pub offer: Offer,
    /// The lists that the heads and the kept ones name by hash.
    pub lists: Vec<PartList>,
    /// Who holds the session, as far as the sender knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
}

/// Asks for what of a session's revisions is in a view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskSeen {
    /// What the asking node takes.
    pub view: View,
}

/// A part that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// Which part.
    pub part: PartHash,
    /// An older part of the same place that the receiver has: what is sent may be the difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<PartHash>,
}

/// Asks for parts. As many come as fit in one answer, in this order; at least one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FetchParts {
    /// Which ones.
    pub wanted: Vec<Wanted>,
    /// The view that was asked for; none when that was everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<View>,
}

/// What became of an exchange that was offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taken {
    /// The parts that have to come before it can be taken; none when it was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Wanted>,
    /// What is taken there, when more than that was offered: then nothing was taken, and what is in this
    /// view is to be offered instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takes: Option<View>,
    /// Whether anything was new there.
    pub changed: bool,
    /// The current revision there now; none before anything was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rev: Option<RevisionId>,
    /// Those that wait there for someone to choose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<RevisionId>,
    /// Who holds the session, as far as the receiver knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<Lease>,
}
