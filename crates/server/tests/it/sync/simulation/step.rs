//! What can happen to the nodes: drawn at random, and small enough to shrink.

use baton_sync::ConflictResolution;
use proptest::collection::vec;
use proptest::prelude::*;

/// One thing that happens. A place is counted in what there is when it happens, and round again.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// A browser at a node captures a change of one site; it may be saved.
    Edit { at: u8, site: u8, is_saved: bool },
    /// What was captured at a node is saved.
    Save { at: u8 },
    /// A node pulls from another one.
    Pull { to: u8, from: u8 },
    /// A node pushes to another one.
    Push { from: u8, to: u8 },
    /// Two nodes pull from each other at once, while a third one saves.
    Cross { one: u8, other: u8, third: u8 },
    /// A node pulls from another one, which ends meanwhile and starts again.
    Cut { to: u8, from: u8 },
    /// Nodes of two sides do not reach each other any more.
    Part { sides: u8 },
    /// They do again.
    Unite,
    /// A node's process ends and starts again.
    Restart { at: u8 },
    /// A node's data folder is copied away.
    BackUp { at: u8 },
    /// The copy takes the place of the data folder, as a folder that was restored does.
    Restore { at: u8 },
    /// The disk goes back to the copy, and nobody knows.
    RollBack { at: u8 },
    /// A node's data folder is copied and started elsewhere.
    Clone { at: u8 },
    /// A node is gone, and registered nowhere any more.
    Remove { at: u8 },
    /// The session is deleted at a node.
    Delete { at: u8 },
    /// Somebody ends the conflicts of a node with one of the revisions that are there.
    Resolve { at: u8, keep: u8 },
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop_oneof![3 => vec(step(), 4..16), 1 => vec(step(), 16..48)]
}

pub(super) fn conflict_resolution() -> impl Strategy<Value = ConflictResolution> {
    prop_oneof![
        Just(ConflictResolution::LatestWins),
        Just(ConflictResolution::Manual),
        Just(ConflictResolution::Merge),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let at = || 0..8u8;
    prop_oneof![
        14 => (at(), 0..3u8, any::<bool>())
            .prop_map(|(at, site, is_saved)| Step::Edit { at, site, is_saved }),
        3 => at().prop_map(|at| Step::Save { at }),
        8 => (at(), at()).prop_map(|(to, from)| Step::Pull { to, from }),
        8 => (at(), at()).prop_map(|(from, to)| Step::Push { from, to }),
        3 => (at(), at(), at()).prop_map(|(one, other, third)| Step::Cross { one, other, third }),
        1 => (at(), at()).prop_map(|(to, from)| Step::Cut { to, from }),
        1 => any::<u8>().prop_map(|sides| Step::Part { sides }),
        1 => Just(Step::Unite),
        1 => at().prop_map(|at| Step::Restart { at }),
        2 => at().prop_map(|at| Step::BackUp { at }),
        1 => at().prop_map(|at| Step::Restore { at }),
        1 => at().prop_map(|at| Step::RollBack { at }),
        1 => at().prop_map(|at| Step::Clone { at }),
        1 => at().prop_map(|at| Step::Remove { at }),
        1 => at().prop_map(|at| Step::Delete { at }),
        2 => (at(), at()).prop_map(|(at, keep)| Step::Resolve { at, keep }),
    ]
}
