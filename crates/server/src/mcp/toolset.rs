//! Toolsets: which tools a client is offered.

use super::verb::Entry;
use super::{carry, keep, look, sandbox, turns};
use std::str::FromStr;

/// Tools that belong together; a client may be offered some sets only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Toolset {
    /// Sessions are opened, kept, brought back, and carried as files.
    Keep,
    /// Sessions are saved, and move between nodes.
    Carry,
    /// Network and console of tabs are asked for.
    Look,
    /// Agents share a board, and pass sessions to each other.
    Turns,
    /// Isolated workspaces start logged in, and commands run in them.
    Sandbox,
}

impl Toolset {
    /// Every one, in the order in which lists show them.
    pub const ALL: [Self; 5] = [Self::Keep, Self::Carry, Self::Look, Self::Turns, Self::Sandbox];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Carry => "carry",
            Self::Look => "look",
            Self::Turns => "turns",
            Self::Sandbox => "sandbox",
        }
    }

    /// The tools of the set.
    pub(super) fn entries(self) -> &'static [Entry] {
        match self {
            Self::Keep => keep::entries(),
            Self::Carry => carry::entries(),
            Self::Look => look::entries(),
            Self::Turns => turns::entries(),
            Self::Sandbox => sandbox::entries(),
        }
    }
}

/// A word that names no toolset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected toolsets among keep, carry, look, turns and sandbox, found {0:?}")]
pub struct UnknownToolset(String);

impl FromStr for Toolset {
    type Err = UnknownToolset;

    fn from_str(word: &str) -> Result<Self, UnknownToolset> {
        let named = Self::ALL.into_iter().find(|one| one.as_str() == word);
        named.ok_or_else(|| UnknownToolset(word.to_owned()))
    }
}
