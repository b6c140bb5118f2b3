//! The nonces that were used: each counts once, and is remembered for as long as it could.

use super::{Nonce, TokenError};
use baton_api::debug::EpochMs;
use std::collections::{BTreeSet, HashSet};

/// How many are remembered unless told otherwise: 2000 pages a second, for a minute.
const MOST: usize = 120_000;

/// The nonces that were used, within a bound. A nonce is forgotten only when its token has expired;
/// while there is no place, further ones are refused.
#[derive(Debug)]
pub struct UsedNonces {
    most: usize,
    nonces: HashSet<Nonce>,
    by_expiry: BTreeSet<(EpochMs, Nonce)>,
    /// The latest instant heard of: a clock that is set back brings nothing back.
    latest: EpochMs,
}

impl Default for UsedNonces {
    fn default() -> Self {
        Self::new(MOST)
    }
}

impl UsedNonces {
    /// Remembers at most so many.
    pub fn new(most: usize) -> Self {
        let (nonces, by_expiry) = (HashSet::new(), BTreeSet::new());
        Self { most, nonces, by_expiry, latest: EpochMs::default() }
    }

    /// Uses a nonce; fails when it was used before, or cannot be remembered.
    pub fn take(
        &mut self,
        nonce: &Nonce,
        expires: EpochMs,
        now: EpochMs,
    ) -> Result<(), TokenError> {
        self.latest = self.latest.max(now);
        self.forget_expired();
        if self.nonces.contains(nonce) {
            return Err(TokenError::Used);
        }
        if expires <= self.latest {
            return Err(TokenError::Expired);
        }
        if self.nonces.len() >= self.most {
            return Err(TokenError::Crowded);
        }
        self.nonces.insert(nonce.clone());
        self.by_expiry.insert((expires, nonce.clone()));
        Ok(())
    }

    fn forget_expired(&mut self) {
        while let Some((expires, _)) = self.by_expiry.first()
            && *expires <= self.latest
            && let Some((_, nonce)) = self.by_expiry.pop_first()
        {
            self.nonces.remove(&nonce);
        }
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
    fn what_cannot_be_remembered_is_refused_until_the_oldest_has_expired() {
        let mut used = UsedNonces::new(2);
        used.take(&nonce(1), at(60), at(1)).unwrap();
        used.take(&nonce(2), at(61), at(2)).unwrap();
        assert_eq!(used.take(&nonce(3), at(62), at(3)), Err(TokenError::Crowded));
        assert_eq!(used.take(&nonce(1), at(60), at(3)), Err(TokenError::Used));
        used.take(&nonce(3), at(62), at(60)).unwrap();
        assert_eq!(used.nonces.len(), 2);
        assert_eq!(used.nonces.len(), used.by_expiry.len());
    }

    #[test]
    fn a_clock_that_is_set_back_brings_nothing_back() {
        let mut used = UsedNonces::default();
        used.take(&nonce(1), at(60), at(1)).unwrap();
        used.take(&nonce(2), at(130), at(100)).unwrap();
        assert_eq!(used.take(&nonce(1), at(60), at(2)), Err(TokenError::Expired));
    }
}
