//! Replays: a request that comes a second time is refused.
//!
//! The one idea: what is remembered is bounded by the life of a signature. A nonce is kept until its
//! signature is too old to be taken anyway. When there is no room for one more, the request is
//! refused: forgetting one instead would let it through twice.
//!
//! What is remembered ends with the process. After a restart a request of the minutes before could
//! come again, so what signed requests do must bear being done twice.

use super::Untrusted;
use super::parameters::Parameters;
use baton_session::NodeKey;
use jiff::Timestamp;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// 16 random bytes that a sender uses once.
pub(super) type Nonce = [u8; 16];
/// How many requests are remembered unless told otherwise: about 10 MB.
const MOST: usize = 1 << 18;
/// Seconds of which the nonces are forgotten together.
const BUCKET: i64 = 60;

/// Remembers the requests that were taken.
#[derive(Debug)]
pub struct Replays {
    seen: Mutex<Seen>,
    most: usize,
}

/// What was seen, by when it expires.
#[derive(Debug, Default)]
struct Seen {
    buckets: BTreeMap<i64, HashSet<[u8; 16]>>,
}

impl Default for Replays {
    fn default() -> Self {
        Self::new(MOST)
    }
}

impl Replays {
    /// Remembers at most `most` requests.
    pub fn new(most: usize) -> Self {
        Self { seen: Mutex::default(), most }
    }

    /// Notes a request whose signature is good, and refuses it when it was noted before.
    pub(super) fn note(&self, parameters: &Parameters, now: Timestamp) -> Result<(), Untrusted> {
        let (bucket, name) =
            (parameters.expires() / BUCKET, name(&parameters.key, parameters.nonce));
        let mut seen = self.seen();
        seen.forget(now.as_second() / BUCKET);
        if seen.buckets.get(&bucket).is_some_and(|names| names.contains(&name)) {
            return Err(Untrusted::Replayed(parameters.key.node_id()));
        }
        if seen.count() >= self.most {
            return Err(Untrusted::Crowded { limit: self.most });
        }
        seen.buckets.entry(bucket).or_default().insert(name);
        Ok(())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// Drops what expired before the bucket `now`.
    fn forget(&mut self, now: i64) {
        self.buckets = self.buckets.split_off(&now);
    }

    /// There are about a dozen buckets at most, so counting is cheap.
    fn count(&self) -> usize {
        self.buckets.values().map(HashSet::len).sum()
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
        let replays = Replays::new(3);
        for _ in 0..3 {
            replays.note(&signed(0), at(0)).unwrap();
        }
        let crowded = replays.note(&signed(10), at(10)).unwrap_err();
        assert_eq!(crowded, Untrusted::Crowded { limit: 3 });
        let late = signed(361);
        replays.note(&late, at(361)).unwrap();
        assert_eq!(replays.seen().count(), 1, "what expired is forgotten");
    }
}
