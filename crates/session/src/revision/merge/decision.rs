//! What a merge decided, in short: a revision tells of it, so that nobody is asked about what was
//! answered, or about what is not left out any more.

use super::MergedFrom;
use crate::json;
use crate::part_hash::PartHash;
use crate::site::Site;
use crate::text_form::{InvalidText, parse_hex, text_form};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// What one decision is about: a site, the list of tabs or the environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Topic([u8; 4]);

/// What one side says about a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Saying([u8; 16]);

/// Something that a merge left out: about what, and what it said. In text both as hexadecimal digits
/// of hashes, `<8>-<32>`, because headers of revisions name no sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LeftOut {
    topic: Topic,
    said: Saying,
}

/// One decision of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decision {
    /// From which side it comes.
    pub(super) from: MergedFrom,
    /// What the merge says.
    pub(super) taken: Saying,
    /// What the loser said.
    pub(super) beaten: Saying,
}

/// The decisions of a merge: one for each topic in which the two sides differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decisions(BTreeMap<Topic, Decision>);

impl Topic {
    fn of(text: &str) -> Self {
        let [a, b, c, d, ..] = PartHash::of(text.as_bytes()).0;
        Self([a, b, c, d])
    }

    /// What belongs to a site.
    pub(super) fn site(site: &Site) -> Self {
        Self::of(&format!("site {site}"))
    }

    /// The list of tabs.
    pub(super) fn tabs() -> Self {
        Self::of("tabs")
    }

    /// The environment.
    pub(super) fn environment() -> Self {
        Self::of("environment")
    }
}

impl Saying {
    /// What is said, as canonical JSON (RFC 8785), hashed.
    pub(super) fn of(said: &impl Serialize) -> Self {
        let hash = PartHash::of(&json::canonical(said)).0;
        Self(std::array::from_fn(|at| hash[at]))
    }
}

impl Decisions {
    pub(super) fn new(decisions: impl IntoIterator<Item = (Topic, Decision)>) -> Self {
        Self(decisions.into_iter().collect())
    }

    /// What the loser had that is left out.
    pub fn left_out(&self) -> BTreeSet<LeftOut> {
        let contested = self.0.iter().filter(|(_, one)| one.from == MergedFrom::Contested);
        contested.map(|(topic, one)| LeftOut { topic: *topic, said: one.beaten }).collect()
    }

    /// Whether the merge says what was left out before.
    pub(in crate::revision) fn says(&self, left: &LeftOut) -> bool {
        self.0.get(&left.topic).is_some_and(|decision| decision.taken == left.said)
    }

    /// Whether anything that these are about, or anything at all where nobody knows what that is, comes
    /// from the loser; or else from the winner.
    pub(in crate::revision) fn takes(
        &self,
        about: Option<&BTreeSet<LeftOut>>,
        from_loser: bool,
    ) -> bool {
        let is_about =
            |topic| about.is_none_or(|about| about.iter().any(|left| left.topic == topic));
        let is_from = |one: &Decision| (one.from == MergedFrom::Loser) == from_loser;
        self.0.iter().any(|(topic, one)| is_about(*topic) && is_from(one))
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.topic.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str("-")?;
        self.said.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for LeftOut {
    type Err = InvalidText;

    fn from_str(text: &str) -> Result<Self, InvalidText> {
        let parsed = text.split_once('-').and_then(|(topic, said)| {
            Some(Self { topic: Topic(parse_hex(topic)?), said: Saying(parse_hex(said)?) })
        });
        parsed.ok_or(InvalidText("what was left out: 8 hexadecimal digits, '-' and 32"))
    }
}

text_form!(LeftOut);
