//! What needs a place at a node, and how many of them a node has.

use baton_agents::sandboxes::SandboxRoom;
use baton_runtime::live::Room;
use baton_store::ClusterBeat;
use std::fmt;

/// What needs a place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The browser of a session.
    #[default]
    Browser,
    /// A sandbox, with a browser or without.
    Sandbox,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Browser => "browser",
            Self::Sandbox => "sandbox",
        })
    }
}

impl Kind {
    /// How many of them a node has, and how many more it takes, as it last said.
    pub(super) fn at(self, beat: ClusterBeat) -> (u64, Option<u64>) {
        match self {
            Self::Browser => (beat.browsers, beat.places),
            Self::Sandbox => (beat.sandboxes, beat.sandbox_places),
        }
    }

    /// So many of them.
    pub(super) fn counted(self, number: u64) -> String {
        match (self, number) {
            (_, 1) => format!("1 {self}"),
            (Self::Browser, _) => format!("{number} browsers"),
            (Self::Sandbox, _) => format!("{number} sandboxes"),
        }
    }
}

/// How much room this node has, at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnRoom {
    pub(crate) browsers: Room,
    pub(crate) sandboxes: SandboxRoom,
}

impl OwnRoom {
    /// How many more of these this node takes; none where nobody counts them. What is in a sandbox needs the memory
    /// of a browser, as a rule.
    pub(super) fn places(&self, what: Kind) -> Option<u64> {
        let places = match what {
            Kind::Browser => self.browsers.places(),
            Kind::Sandbox => self.sandboxes.places.min(self.browsers.places_by_memory()),
        };
        (places < usize::MAX).then_some(places as u64)
    }
}
