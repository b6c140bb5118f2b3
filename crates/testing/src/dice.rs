//! Choices without a pattern that can be had again.

use crate::seed::seed;

/// A sequence of choices that a seed decides.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// With the [seed](seed()) of this run.
    pub fn new() -> Self {
        Self(seed())
    }

    /// With a seed of one's own.
    pub fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound` (`SplitMix64`).
    pub fn roll(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }

    /// Whether something happens that does so `of` times in a hundred.
    pub fn chance(&mut self, of: u64) -> bool {
        self.roll(100) < of
    }

    /// One of these, each as often as its weight says.
    pub fn weighed<T: Copy>(&mut self, choices: &[(u64, T)]) -> Option<T> {
        let total: u64 = choices.iter().map(|(weight, _)| weight).sum();
        let mut left = self.roll(total.max(1));
        choices.iter().find_map(|(weight, choice)| {
            if left < *weight {
                return Some(*choice);
            }
            left -= weight;
            None
        })
    }
}

impl Default for Dice {
    fn default() -> Self {
        Self::new()
    }
}
