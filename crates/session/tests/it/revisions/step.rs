//! What can happen to the nodes that share a session: drawn at random, and small enough to shrink.

use proptest::prelude::*;

/// One thing that happens. A place is counted in what there is when it happens, and
/// round again.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// The user of a node saves a change of one site, on top of the state that their browser started
    /// from, which may be an old one.
    Edit { at: u8, site: u8, value: Value },
    /// The user of a node goes on from its current revision.
    Reopen { at: u8 },
    /// Two nodes meet.
    Sync { one: u8, other: u8, is_both_ways: bool },
    /// Two nodes meet, and each makes its offer before it has that of the other.
    Cross { one: u8, other: u8 },
    /// A node offers what claims to have seen all that another one will ever write.
    Forge { from: u8, whom: u8, to: u8 },
    /// A node makes an offer that is not delivered yet.
    Send { from: u8 },
    /// An offer that was made some time is delivered; it may be delivered again.
    Deliver { offer: u8, to: u8, is_last: bool },
    /// Nodes of two sides do not reach each other any more.
    Part { sides: u8 },
    /// They do again.
    Unite,
    /// A node's process ends and starts again.
    Restart { at: u8 },
    /// A node's clock is set, in seconds from the true time.
    SetClock { at: u8, skew: i64 },
    /// A node's data folder is backed up.
    BackUp { at: u8 },
    /// A backup takes the place of the data folder; the node begins a new epoch.
    Restore { at: u8 },
    /// The disk goes back to the backup, and nobody knows.
    RollBack { at: u8 },
    /// A node's data folder is copied and started elsewhere, in a new epoch.
    Clone { at: u8 },
    /// A node is registered nowhere any more.
    Remove { at: u8 },
    /// The user of a node deletes the session.
    Delete { at: u8 },
    /// The user of a node ends its conflicts with one of the revisions that are there.
    Resolve { at: u8, keep: u8 },
    /// A peer that knows no vectors takes the session's file from a node.
    Hand { at: u8 },
    /// Such a peer changes what it has, or not, and gives it to a node.
    TakeBack { at: u8, site: Option<u8> },
}

/// What an edit writes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value {
    /// What nobody else ever writes.
    Fresh,
    /// What others may write too.
    Common(u8),
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop_oneof![
        3 => proptest::collection::vec(step(), 4..24),
        2 => proptest::collection::vec(step(), 24..90),
        1 => proptest::collection::vec(step(), 90..240),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let at = || 0..8u8;
    let value = prop_oneof![4 => Just(Value::Fresh), 1 => (0..2u8).prop_map(Value::Common)];
    prop_oneof![
        12 => (at(), 0..3u8, value).prop_map(|(at, site, value)| Step::Edit { at, site, value }),
        6 => at().prop_map(|at| Step::Reopen { at }),
        12 => (at(), at(), any::<bool>())
            .prop_map(|(one, other, is_both_ways)| Step::Sync { one, other, is_both_ways }),
        4 => (at(), at()).prop_map(|(one, other)| Step::Cross { one, other }),
        1 => (at(), at(), at()).prop_map(|(from, whom, to)| Step::Forge { from, whom, to }),
        3 => at().prop_map(|from| Step::Send { from }),
        4 => (at(), at(), any::<bool>())
            .prop_map(|(offer, to, is_last)| Step::Deliver { offer, to, is_last }),
        1 => any::<u8>().prop_map(|sides| Step::Part { sides }),
        1 => Just(Step::Unite),
        1 => at().prop_map(|at| Step::Restart { at }),
        1 => (at(), -3600..3600i64).prop_map(|(at, skew)| Step::SetClock { at, skew }),
        2 => at().prop_map(|at| Step::BackUp { at }),
        1 => at().prop_map(|at| Step::Restore { at }),
        1 => at().prop_map(|at| Step::RollBack { at }),
        1 => at().prop_map(|at| Step::Clone { at }),
        1 => at().prop_map(|at| Step::Remove { at }),
        1 => at().prop_map(|at| Step::Delete { at }),
        2 => (at(), at()).prop_map(|(at, keep)| Step::Resolve { at, keep }),
        1 => at().prop_map(|at| Step::Hand { at }),
        1 => (at(), proptest::option::weighted(0.8, 0..3u8))
            .prop_map(|(at, site)| Step::TakeBack { at, site }),
    ]
}
