//! Ratios of pairs, with a bound that says how far chance can have carried them.

/// The ratio of two things that were measured in pairs.
#[derive(Debug, Clone, Copy)]
pub struct Ratio {
    /// The geometric mean of the pairs' ratios.
    pub mean: f64,
    /// The lower 95 % bound of the mean.
    pub lower: f64,
    /// The upper 95 % bound of the mean.
    pub upper: f64,
    /// How many pairs.
    pub pairs: usize,
}

impl Ratio {
    /// The ratio `measured / baseline`. Its bounds are the 2.5 % and 97.5 % points of 10,000 means of
    /// pairs drawn again with replacement (percentile bootstrap).
    pub fn of(pairs: &[(f64, f64)]) -> Self {
        let logs: Vec<f64> =
            pairs.iter().map(|(measured, baseline)| (measured / baseline).ln()).collect();
        let mut draw = Draw(1);
        let mut means: Vec<f64> = (0..DRAWS)
            .map(|_| mean((0..logs.len()).map(|_| logs[draw.below(logs.len())])))
            .collect();
        means.sort_by(f64::total_cmp);
        Self {
            mean: mean(logs.iter().copied()).exp(),
            lower: means[DRAWS / 40].exp(),
            upper: means[DRAWS - DRAWS / 40 - 1].exp(),
            pairs: pairs.len(),
        }
    }
}

const DRAWS: usize = 10_000;

#[expect(clippy::cast_precision_loss, reason = "a few dozen values")]
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// The value in the middle.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The value below which so many of a hundred lie.
pub fn percentile(values: &[f64], percent: usize) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() * percent / 100).copied().unwrap_or(f64::NAN)
}

/// A sequence that is the same in every run (`SplitMix64`).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) >> 33).unwrap_or(0) % bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_pairs_have_the_ratio_one() {
        let ratio = Ratio::of(&[(2.0, 2.0), (3.0, 3.0)]);
        assert!((ratio.mean - 1.0).abs() < 1e-9 && (ratio.upper - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_bounds_stand_around_the_mean() {
        let pairs: Vec<_> = (0..30).map(|n| (1.1 + 0.01 * f64::from(n % 7), 1.0)).collect();
        let ratio = Ratio::of(&pairs);
        assert!(1.1 < ratio.lower && ratio.lower < ratio.mean);
        assert!(ratio.mean < ratio.upper && ratio.upper < 1.17);
    }
}
