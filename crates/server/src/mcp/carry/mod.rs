//! The carry tools: sessions are saved, and move between this node and its peers.
//!
//! The doc comments of the structs are what a model reads, so they are short and exact; all of them together stay
//! below 4 kB. A peer is what a person has confirmed: no tool takes a key of another node, and none trusts one by
//! itself. Rooms: `peers` registers them, and knows what people call them and which are asked; `movement` saves
//! and moves sessions; `profiles` lists them; `conflicts` tells what a choice changes; `text` has the words.

#![expect(clippy::doc_markdown, reason = "models read these texts, not rustdoc")]

mod conflicts;
mod movement;
mod peers;
mod profiles;
mod text;

use super::verb::Entry;
use std::sync::LazyLock;

/// The tools in the order in which clients list them.
pub(super) fn entries() -> &'static [Entry] {
    static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        vec![
            Entry::of::<peers::ListPeers>(),
            Entry::of::<peers::RegisterPeer>(),
            Entry::of::<profiles::ListRemoteSessions>(),
            Entry::of::<movement::ImportSession>(),
            Entry::of::<movement::ExportSession>(),
            Entry::of::<movement::ResumeSession>(),
            Entry::of::<conflicts::Conflicts>(),
            Entry::of::<conflicts::Resolve>(),
            Entry::of::<movement::SaveProfile>(),
            Entry::of::<profiles::ListProfiles>(),
        ]
    });
    &ENTRIES
}
