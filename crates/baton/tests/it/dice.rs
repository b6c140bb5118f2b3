//! Choices without a pattern that can be had again, and how many rounds a story takes.

/// A sequence of choices that a seed decides.
pub(crate) struct Dice(u64);

impl Dice {
    /// With the seed that `BATON_SEED` says, or always the same one.
    pub(crate) fn from_environment() -> Self {
        let seed = std::env::var("BATON_SEED").ok().and_then(|seed| seed.parse().ok());
        Self(seed.unwrap_or(20_260_101))
    }

    /// With a seed of one's own.
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// The seed, as long as nothing was rolled.
    pub(crate) fn seed(&self) -> u64 {
        self.0
    }

    /// A number below `bound` (`SplitMix64`).
    pub(crate) fn roll(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// How many rounds: `usual`, or what `cargo xtask soak` asks for.
pub(crate) fn rounds(usual: u64) -> u64 {
    let asked = std::env::var("BATON_SOAK_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    asked.unwrap_or(usual)
}
