//! The seed of what is random in a test: a new one in each run, unless somebody names one.

use proptest::test_runner::{Config, RngSeed};
use std::hash::{BuildHasher as _, RandomState};

/// The variable that names a seed, to have a run again.
pub const SEED: &str = "BATON_TEST_SEED";
/// The variable with which `cargo xtask soak` asks for more rounds.
const ROUNDS: &str = "BATON_SOAK_ROUNDS";

/// The seed of this run: what [`SEED`] says, or a new one. It is printed, so that whoever reads why a
/// test failed reads the seed too.
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

/// How many rounds `cargo xtask soak` asks for; none when nobody does.
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

#[cfg(test)]
mod tests {
    use super::{SEED, seed};

    #[test]
    fn without_a_name_each_run_has_a_seed_of_its_own() {
        match std::env::var(SEED) {
            Ok(named) => assert_eq!(seed().to_string(), named),
            Err(_) => assert_ne!(seed(), seed()),
        }
    }
}
