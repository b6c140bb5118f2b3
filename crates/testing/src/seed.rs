//! The seed of what is random in a test: always the same one, so that a change is judged by what it
//! changes; a new one in each run of a soak, which looks for what nobody has seen; or one that is named.

use proptest::test_runner::{Config, RngSeed};
use std::hash::{BuildHasher as _, RandomState};

/// The variable that names a seed, to have a run again.
pub const SEED: &str = "BATON_TEST_SEED";
/// The variable with which `cargo xtask soak` asks for more rounds.
const ROUNDS: &str = "BATON_SOAK_ROUNDS";

/// The seed of every run that names none, and is no soak.
const USUAL: u64 = 1;

/// The seed of this run: what [`SEED`] says, a new one in a soak, the usual one otherwise. It is printed, so
/// that whoever reads why a test failed reads the seed too.
///
/// # Panics
///
/// When the variable holds no number.
pub fn seed() -> u64 {
    let seed = number(SEED).unwrap_or_else(|| match asked_rounds() {
        // Small enough to be typed, and large enough that no two runs are alike.
        Some(_) => RandomState::new().hash_one(SEED) >> 32,
        None => USUAL,
    });
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
    use super::{SEED, USUAL, asked_rounds, seed};

    #[test]
    fn every_run_makes_the_same_choices_and_a_soak_new_ones() {
        match (std::env::var(SEED), asked_rounds()) {
            (Ok(named), _) => assert_eq!(seed().to_string(), named),
            (Err(_), Some(_)) => assert_ne!(seed(), seed()),
            (Err(_), None) => assert_eq!(seed(), USUAL),
        }
    }
}
