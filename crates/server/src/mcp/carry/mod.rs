//! The carry tools: sessions are saved, and move between this node and its peers.
//!
//! One file a verb. The doc comments of the structs are what a model reads, so they are short and
//! exact; all of them together stay below 4 kB. A peer is what a person has confirmed: no tool takes a
//! key of another node, and none trusts one by itself. Rooms: `peers` knows what people call nodes and
//! which of them are asked; `find` finds a session by what a model says; `movement` moves one; `differs` tells what a choice changes; `text`
//! has the words.

#![expect(clippy::doc_markdown, reason = "models read these texts, not rustdoc")]

mod conflicts;
mod differs;
mod export;
mod find;
mod import;
mod list_peers;
mod list_profiles;
mod list_remote;
mod movement;
mod peers;
mod register;
mod resolve;
mod resume;
mod save;
mod text;

use super::verb::Entry;
use std::sync::LazyLock;

/// The tools in the order in which clients list them.
pub(super) fn entries() -> &'static [Entry] {
    static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        vec![
            Entry::of::<list_peers::ListPeers>(),
            Entry::of::<register::RegisterPeer>(),
            Entry::of::<list_remote::ListRemoteSessions>(),
            Entry::of::<import::ImportSession>(),
            Entry::of::<export::ExportSession>(),
            Entry::of::<resume::ResumeSession>(),
            Entry::of::<conflicts::Conflicts>(),
            Entry::of::<resolve::Resolve>(),
            Entry::of::<save::SaveProfile>(),
            Entry::of::<list_profiles::ListProfiles>(),
        ]
    });
    &ENTRIES
}
