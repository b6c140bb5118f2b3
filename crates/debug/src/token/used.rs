//! The nonces that were used: each counts once, and is remembered for as long as it could.

use super::error::TokenError;
use super::nonce::Nonce;
use baton_api::debug::EpochMs;
use baton_session::once::{Once, Twice};
use std::time::{Duration, Instant};

/// How many are remembered unless told otherwise: 2000 pages a second, for a minute.
const MOST: usize = 120_000;

/// The nonces that were used, within a bound. What the clock said before does not matter: a token that
/// is good now, and was not used, counts.
#[derive(Debug)]
pub struct UsedNonces(Once<Nonce>);

impl Default for UsedNonces {
    fn default() -> Self {
        Self::new(MOST)
    }
}

impl UsedNonces {
    /// Remembers at most so many.
    pub fn new(most: usize) -> Self {
        Self(Once::new(most))
    }

    /// Uses a nonce; fails when it was used before, or cannot be remembered.
    pub fn take(
        &mut self,
        nonce: &Nonce,
        expires: EpochMs,
        now: EpochMs,
    ) -> Result<(), TokenError> {
        self.look(nonce)?;
        if expires <= now {
            return Err(TokenError::Expired);
        }
        let left = Duration::from_millis(expires.since(now));
        self.0.take(nonce, left, Instant::now()).map_err(|twice| match twice {
            Twice::Used => TokenError::Used,
            Twice::Crowded => TokenError::Crowded,
        })
    }

    /// Fails when a nonce was used before.
    pub(super) fn look(&self, nonce: &Nonce) -> Result<(), TokenError> {
        if self.0.is_used(nonce) { Err(TokenError::Used) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nonce(number: u8) -> Nonce {
        Nonce::new([number; 16])
    }

    fn at(second: u64) -> EpochMs {
        EpochMs::new(second * 1000)
    }

    #[test]
    fn a_nonce_counts_once() {
        let mut used = UsedNonces::default();
        used.take(&nonce(1), at(60), at(1)).unwrap();
        assert_eq!(used.take(&nonce(1), at(60), at(59)), Err(TokenError::Used));
        used.take(&nonce(2), at(60), at(59)).unwrap();
    }

    #[test]
    fn what_cannot_be_remembered_is_refused() {
        let mut used = UsedNonces::new(2);
        used.take(&nonce(1), at(60), at(1)).unwrap();
        used.take(&nonce(2), at(61), at(2)).unwrap();
        assert_eq!(used.take(&nonce(3), at(62), at(3)), Err(TokenError::Crowded));
        assert_eq!(used.take(&nonce(1), at(60), at(3)), Err(TokenError::Used));
    }

    #[test]
    fn a_clock_that_is_set_back_brings_nothing_back() {
        let mut used = UsedNonces::default();
        used.take(&nonce(1), at(60), at(1)).unwrap();
        used.take(&nonce(2), at(130), at(100)).unwrap();
        assert_eq!(used.take(&nonce(1), at(60), at(2)), Err(TokenError::Used));
    }

    #[test]
    fn a_clock_that_was_ahead_for_a_moment_refuses_nothing_later() {
        let (mut used, day) = (UsedNonces::default(), 86_400);
        used.take(&nonce(1), at(60), at(1)).unwrap();
        used.take(&nonce(2), at(day + 60), at(day)).unwrap();
        used.take(&nonce(3), at(62), at(2)).unwrap();
        assert_eq!(used.take(&nonce(1), at(60), at(3)), Err(TokenError::Used));
    }
}
