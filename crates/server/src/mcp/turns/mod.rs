//! The turns tools: agents share a board of what is to be done, and pass sessions to each other.
//!
//! One file a verb. The doc comments of the structs are what a model reads, so they are short and
//! exact; all of them together stay below 4 kB. Whoever the client says it is, by the header
//! `Baton-Agent`, is the agent that acts; a tool may name another one. Rooms: `who` knows who acts,
//! `text` has the words.

mod add;
mod claim;
mod finish;
mod pass;
mod status;
mod text;
mod update;
mod who;

use super::verb::Entry;
use std::sync::LazyLock;

/// The tools in the order in which clients list them.
pub(super) fn entries() -> &'static [Entry] {
    static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        vec![
            Entry::of::<status::FederationStatus>(),
            Entry::of::<update::FederationUpdate>(),
            Entry::of::<add::FederationAddTask>(),
            Entry::of::<claim::FederationClaimTask>(),
            Entry::of::<finish::FederationFinishTask>(),
            Entry::of::<pass::SessionPass>(),
        ]
    });
    &ENTRIES
}
