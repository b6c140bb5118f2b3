//! Replays: a request that comes a second time is refused.
//!
//! The one idea: what is remembered is bounded by the life of a signature. A nonce is kept until its
//! signature is too old to be taken anyway, whatever the clock says meanwhile. When there is no room for
//! one more, the request is refused: forgetting one instead would let it through twice.
//!
//! What is remembered ends with the process. After a restart a request of the minutes before could
//! come again, so what signed requests do must bear being done twice.

use super::parameters::{Nonce, Parameters};
use super::untrusted::Untrusted;
use baton_session::NodeKey;
use baton_session::once::{Once, Twice};
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many requests are remembered unless told otherwise: about 20 MB.
const MOST: usize = 1 << 18;

/// Remembers the requests that were taken.
#[derive(Debug)]
pub struct Replays {
    seen: Mutex<Once<[u8; 16]>>,
    most: usize,
}

impl Default for Replays {
    fn default() -> Self {
        Self::new(MOST)
    }
}

impl Replays {
    /// Remembers at most `most` requests.
    pub fn new(most: usize) -> Self {
        Self { seen: Mutex::new(Once::new(most)), most }
    }

    /// Notes a request whose signature is good, and refuses it when it was noted before.
    pub(super) fn note(&self, parameters: &Parameters, now: Timestamp) -> Result<(), Untrusted> {
        self.note_at(parameters, now, Instant::now())
    }

    fn note_at(
        &self,
        parameters: &Parameters,
        now: Timestamp,
        instant: Instant,
    ) -> Result<(), Untrusted> {
        let left = parameters.expires().saturating_sub(now.as_second());
        let left = Duration::from_secs(u64::try_from(left).unwrap_or_default());
        let name = name(&parameters.key, parameters.nonce);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.take(&name, left, instant).map_err(|twice| match twice {
            Twice::Used => Untrusted::Replayed(parameters.key.node_id()),
            Twice::Crowded => Untrusted::Crowded { limit: self.most },
        })
    }
}

/// A nonce together with its sender, so that no sender can use up another's.
fn name(key: &NodeKey, nonce: Nonce) -> [u8; 16] {
    let hash = Sha256::new().chain_update(key.as_bytes()).chain_update(nonce).finalize();
    let mut name = [0; 16];
    name.copy_from_slice(&hash[..16]);
    name
}

#[cfg(test)]
mod tests {
    use super::{Parameters, Replays, Untrusted};
    use baton_session::NodeSecret;
    use jiff::Timestamp;
    use std::time::{Duration, Instant};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn signed(second: i64) -> Parameters {
        Parameters::new(NodeSecret::from_seed(&[1; 32]).key(), at(second))
    }

    #[test]
    fn a_request_is_taken_once_for_as_long_as_it_is_good() {
        let (replays, request) = (Replays::default(), signed(0));
        replays.note(&request, at(-300)).unwrap();
        for second in [-300, 0, 299, 300] {
            let refused = replays.note(&request, at(second)).unwrap_err();
            assert!(matches!(refused, Untrusted::Replayed(_)), "{second}: {refused}");
        }
        let mut other = request.clone();
        other.key = NodeSecret::from_seed(&[2; 32]).key();
        replays.note(&other, at(300)).unwrap();
    }

    #[test]
    fn what_finds_no_room_is_refused_until_something_expires() {
        let (replays, begin) = (Replays::new(3), Instant::now());
        for _ in 0..3 {
            replays.note_at(&signed(0), at(0), begin).unwrap();
        }
        let later = |seconds| begin + Duration::from_secs(seconds);
        let crowded = replays.note_at(&signed(10), at(10), later(10)).unwrap_err();
        assert_eq!(crowded, Untrusted::Crowded { limit: 3 });
        replays.note_at(&signed(361), at(361), later(361)).unwrap();
    }

    #[test]
    fn a_clock_that_was_ahead_for_a_moment_lets_nothing_through_twice() {
        let (replays, request) = (Replays::default(), signed(0));
        replays.note(&request, at(0)).unwrap();
        replays.note(&signed(86_400), at(86_400)).unwrap();
        let refused = replays.note(&request, at(1)).unwrap_err();
        assert!(matches!(refused, Untrusted::Replayed(_)), "{refused}");
    }
}
