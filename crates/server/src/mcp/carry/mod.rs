//! The carry tools: sessions are saved, and move between this node and its peers.
//!
//! The doc comments of the structs are what a model reads, so they are short and exact; all of them together stay
//! below 4 kB. A peer is what a person has confirmed: no tool takes a key of another node, and none trusts one by
//! itself. Rooms: `peers` registers them, and knows what people call them and which are asked; `movement` saves
//! and moves sessions; `profiles` lists them; `conflicts` tells what a choice changes; `text` has the words.

#![expect(clippy::doc_markdown, reason = "models read these texts, not rustdoc")]

mod movement;
mod peers;
mod profiles;

use super::verb::Entry;
use crate::mcp::answer::cut;
use baton_api::sync::{Movement, MovementOutcome};
use baton_session::RevisionId;
use serde_json::{Value, json};
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
            Entry::of::<profiles::Conflicts>(),
            Entry::of::<profiles::Resolve>(),
            Entry::of::<movement::SaveProfile>(),
            Entry::of::<profiles::ListProfiles>(),
        ]
    });
    &ENTRIES
}

/// How much of what another node says is shown, in characters.
const SAID: usize = 200;
/// How many digits of a revision's hash are shown at least.
const DIGITS: usize = 8;

/// What a person or another node wrote, on one line and not too long.
fn plain(text: &str) -> String {
    let letters = |c: char| if c.is_control() { ' ' } else { c };
    let flat: String = text.chars().map(letters).collect();
    cut(&flat.split_whitespace().collect::<Vec<_>>().join(" "), SAID)
}

/// A size in bytes, in one unit.
fn size(bytes: u64) -> String {
    match bytes {
        ..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

/// The beginning of a revision's name that none of the others has.
fn revision(rev: &RevisionId, others: &[RevisionId]) -> String {
    let whole = rev.to_string();
    let shared = |other: &RevisionId| {
        let other = other.to_string();
        whole.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
    };
    let others = others.iter().filter(|other| *other != rev);
    let unique = others.map(shared).max().unwrap_or(0) + 1;
    let hash = whole.find('-').unwrap_or(0) + 1;
    whole.chars().take(unique.max(hash + DIGITS)).collect()
}

/// Which way a session moves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// From a peer to here.
    Pull,
    /// From here to a peer.
    Push,
}

/// What came of a movement, in a sentence.
fn movement(way: Direction, moved: &Movement, peer: &str) -> String {
    let name = &moved.name;
    let (to, from) = match way {
        Direction::Pull => ("this node", peer),
        Direction::Push => (peer, "this node"),
    };
    let plural = if moved.parts == 1 { "" } else { "s" };
    let amount = format!("{} part{plural}, {}", moved.parts, size(moved.bytes));
    match moved.outcome {
        MovementOutcome::Unchanged => format!("{to} has all of {name} that {from} has."),
        MovementOutcome::Moved => format!("Moved {name} from {from} to {to}: {amount}."),
        MovementOutcome::Conflict => format!(
            "Moved {name} from {from} to {to}: {amount}. It was changed at both: \
             browser_sync_conflicts lists what to choose from, at {to}."
        ),
        MovementOutcome::Deleted => format!("{name} was deleted at {from}, and is now at {to}."),
        MovementOutcome::Unfinished => {
            format!("Time ran out before {name} was moved; call this again, and it goes on.")
        }
    }
}

/// The same for programs.
fn movement_data(moved: &Movement, peer: &str) -> Value {
    json!({
        "sessionId": moved.session_id, "name": moved.name, "peer": peer, "outcome": moved.outcome,
        "rev": moved.rev, "conflicts": moved.conflicts, "parts": moved.parts, "bytes": moved.bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::{plain, revision, size};
    use baton_session::RevisionId;

    #[test]
    fn what_others_wrote_is_one_line() {
        assert_eq!(plain("a\nb\u{1b}[2Jc  d"), "a b [2Jc d");
        assert_eq!(plain(&"x".repeat(300)).chars().count(), 201);
    }

    #[test]
    fn sizes_have_one_unit() {
        let sizes = [0, 999, 1000, 999_999, 1_000_000, 7_600_000].map(size);
        assert_eq!(sizes, ["0 B", "999 B", "1 kB", "999 kB", "1 MB", "7 MB"]);
    }

    #[test]
    fn a_revision_is_told_as_long_as_it_has_to_be() {
        let rev = |version: u64, hash: &str| -> RevisionId {
            format!("{version}-{hash:0<64}").parse().unwrap()
        };
        let (a, b) = (rev(3, "abcdef0123456789"), rev(3, "abcdef0123477777"));
        assert_eq!(revision(&a, &[a]), "3-abcdef01");
        assert_eq!(revision(&a, &[a, b]), "3-abcdef012345");
        assert_eq!(revision(&rev(12, "a"), &[b]), "12-a0000000");
    }
}
