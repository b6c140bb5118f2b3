//! The seed of what is random in a test, and choices without a pattern that can be had again from it.
//!
//! It is a new one in each run, which is said, so that each run looks at what none has seen; or one that is named.

use proptest::test_runner::{Config, RngSeed};
use std::hash::{BuildHasher as _, RandomState};

/// The variable that names a seed, to have a run again.
pub const SEED: &str = "BATON_TEST_SEED";
/// The variable with which `cargo xtask soak` asks for more rounds.
const ROUNDS: &str = "BATON_SOAK_ROUNDS";

/// The seed of this run: what [`SEED`] says, which is one for all tests of `cargo xtask test`, or a new one. It is
/// printed, so that a developer who reads why a test failed reads the seed too.
///
/// # Panics
///
/// When the variable holds no number.
pub fn seed() -> u64 {
    // Small enough to be typed, and large enough that no two runs are alike.
    let seed = number(SEED).unwrap_or_else(|| RandomState::new().hash_one(SEED) >> 32);
    println!("{SEED}={seed} makes the same choices again");
    seed
}

/// How many cases a property is tried on, with the [seed](seed()) of this run.
pub fn cases(cases: u32) -> Config {
    let rng_seed = RngSeed::Fixed(seed());
    Config { cases, rng_seed, failure_persistence: None, ..Config::default() }
}

/// How many rounds: `usual`, or what `cargo xtask soak` asks for.
///
/// # Panics
///
/// When the variable holds no number.
pub fn rounds(usual: u64) -> u64 {
    asked_rounds().unwrap_or(usual)
}

/// How many rounds `cargo xtask soak` asks for; none when it does not.
///
/// # Panics
///
/// When the variable holds no number.
pub fn asked_rounds() -> Option<u64> {
    number(ROUNDS)
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    let read = text.parse().map_err(|_| format!("expected a number in {variable}, found {text:?}"));
    Some(read.unwrap_or_else(|why| panic!("{why}")))
}

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

    /// Which one of so many, counted from 0.
    pub fn index(&mut self, of: usize) -> usize {
        usize::try_from(self.roll(of as u64)).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::{SEED, seed};

    #[test]
    fn every_run_makes_new_choices_or_those_of_the_seed_that_is_named() {
        match std::env::var(SEED) {
            Ok(named) => assert_eq!(seed().to_string(), named),
            Err(_) => assert_ne!(seed(), seed()),
        }
    }
}
