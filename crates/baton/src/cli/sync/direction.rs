//! Which way sessions move, and what that means for one that differs.

use crate::output::Way;
use baton_api::sync::Difference;
use clap::ValueEnum;

/// Which way sessions move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Direction {
    /// From peers to here
    Pull,
    /// From here to peers
    Push,
    /// To whoever lacks something
    Both,
}

impl Direction {
    /// What has to move of a session that differs so, in this order. What both have changed comes here
    /// first, so that what goes back joins the two.
    pub(super) fn ways(self, difference: Difference) -> &'static [Way] {
        match (difference, self) {
            (Difference::Behind | Difference::Diverged, Self::Pull)
            | (Difference::Behind, Self::Both) => &[Way::Pull],
            (Difference::Ahead | Difference::Diverged, Self::Push)
            | (Difference::Ahead, Self::Both) => &[Way::Push],
            (Difference::Diverged, Self::Both) => &[Way::Pull, Way::Push],
            (Difference::Same, _)
            | (Difference::Ahead, Self::Pull)
            | (Difference::Behind, Self::Push) => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Direction::{Both, Pull, Push};
    use crate::output::Way;
    use baton_api::sync::Difference::{Ahead, Behind, Diverged, Same};

    #[test]
    fn whoever_lacks_something_gets_it_if_the_direction_allows() {
        let table: [(_, _, &[Way]); 12] = [
            (Same, Pull, &[]),
            (Same, Push, &[]),
            (Same, Both, &[]),
            (Ahead, Pull, &[]),
            (Ahead, Push, &[Way::Push]),
            (Ahead, Both, &[Way::Push]),
            (Behind, Pull, &[Way::Pull]),
            (Behind, Push, &[]),
            (Behind, Both, &[Way::Pull]),
            (Diverged, Pull, &[Way::Pull]),
            (Diverged, Push, &[Way::Push]),
            (Diverged, Both, &[Way::Pull, Way::Push]),
        ];
        for (difference, direction, ways) in table {
            assert_eq!(direction.ways(difference), ways, "{difference:?}, {direction:?}");
        }
    }
}
