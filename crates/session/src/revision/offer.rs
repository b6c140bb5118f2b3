//! What nodes exchange of a session: its heads, and what is needed to believe them.

use super::id::RevisionId;
use super::signed::Signed;
use super::trail::Trail;
use crate::id::SessionId;
use serde::{Deserialize, Serialize};

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
