//! What was seen as a secret: keyed hashes, a bounded number of them, by which it is found again.
//!
//! The one idea: a text is looked at eight bytes at a time; a filter of bits says for nearly all places
//! that nothing known begins there, and only behind it a hash of the whole is compared. The secrets
//! themselves are not kept, and without the key their hashes say nothing.

use crate::look::Look;
use crate::ranges::Ranges;
use siphasher::sip::SipHasher13;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::hash::Hasher;

/// How many secrets are remembered; the oldest goes first.
const MAX_SEEN: usize = 1024;
/// How many of them begin alike at most.
const MAX_ALIKE: usize = 16;
/// The shortest and the longest that are remembered, in bytes.
const SHORTEST: usize = 8;
const LONGEST: usize = 4096;
/// Bits of the filter, as a power of two: of those that are remembered, few are set.
const FILTER_BITS: u32 = 16;

/// Secrets of one tab.
pub(crate) struct KnownSecrets {
    key: [u8; 16],
    /// An odd number of the key, for the filter.
    factor: u64,
    filter: Vec<u64>,
    /// By the hash of their first bytes, length and hash of each.
    heads: HashMap<u64, Vec<(usize, u64)>>,
    /// The same hashes and their bits of the filter, the oldest first.
    order: VecDeque<(u64, usize)>,
    /// How many were forgotten whose bits the filter may have still.
    stale: usize,
}

/// What it holds goes to no log.
impl fmt::Debug for KnownSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownSecrets").field("count", &self.order.len()).finish_non_exhaustive()
    }
}

impl KnownSecrets {
    pub(crate) fn new(key: [u8; 16]) -> Self {
        let half = key.first_chunk().copied().unwrap_or_default();
        let factor = u64::from_le_bytes(half) | 1;
        let (filter, heads, order) = (Vec::new(), HashMap::new(), VecDeque::new());
        Self { key, factor, filter, heads, order, stale: 0 }
    }

    fn hash(&self, bytes: &[u8]) -> u64 {
        let mut hasher = SipHasher13::new_with_key(&self.key);
        hasher.write(bytes);
        hasher.finish()
    }

    /// The bit of the filter for these eight bytes.
    fn bit(&self, eight: [u8; SHORTEST]) -> usize {
        let mixed = u64::from_le_bytes(eight).wrapping_mul(self.factor);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(self.factor);
        usize::try_from(mixed >> (u64::BITS - FILTER_BITS)).unwrap_or_default()
    }

    /// Remembers a secret, if it is long and unlike words: what anybody may write is not hidden elsewhere.
    pub(crate) fn note(&mut self, secret: &str) {
        let bytes = secret.as_bytes();
        if !(SHORTEST..=LONGEST).contains(&bytes.len()) || !is_telling(secret) {
            return;
        }
        let Some(eight) = bytes.first_chunk().copied() else { return };
        let (head, whole) = (self.hash(&eight), self.hash(bytes));
        let alike = self.heads.entry(head).or_default();
        if alike.contains(&(bytes.len(), whole)) || alike.len() >= MAX_ALIKE {
            return;
        }
        alike.push((bytes.len(), whole));
        let bit = self.bit(eight);
        if self.filter.is_empty() {
            self.filter = vec![0; 1 << (FILTER_BITS - 6)];
        }
        self.filter[bit / 64] |= 1 << (bit % 64);
        self.order.push_back((head, bit));
        if self.order.len() > MAX_SEEN {
            self.forget_oldest();
        }
    }

    /// Its bit stays in the filter until there are many such: a false bit costs one comparison, each time.
    fn forget_oldest(&mut self) {
        let Some((head, _)) = self.order.pop_front() else { return };
        self.stale += 1;
        if self.stale > MAX_SEEN {
            self.stale = 0;
            self.filter.fill(0);
            for (_, bit) in &self.order {
                self.filter[bit / 64] |= 1 << (bit % 64);
            }
        }
        if let Some(alike) = self.heads.get_mut(&head) {
            alike.remove(0);
            if alike.is_empty() {
                self.heads.remove(&head);
            }
        }
    }

    /// Notes where a secret that was seen before stands in a text.
    pub(crate) fn find(&self, text: &str, found: &mut Ranges) {
        if self.filter.is_empty() {
            return;
        }
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
            let bit = self.bit(*eight);
            let may_be = self.filter[bit / 64] & (1 << (bit % 64)) != 0;
            match may_be.then(|| self.longest_at(bytes, at)).flatten() {
                Some(length) => {
                    found.add(at..at + length);
                    at += length;
                }
                None => at += 1,
            }
        }
    }

    fn longest_at(&self, bytes: &[u8], at: usize) -> Option<usize> {
        let rest = &bytes[at..];
        let alike = self.heads.get(&self.hash(rest.get(..SHORTEST)?))?;
        let fits = |(length, whole): &&(usize, u64)| {
            rest.get(..*length).is_some_and(|part| self.hash(part) == *whole)
        };
        alike.iter().filter(fits).map(|(length, _)| *length).max()
    }
}

/// Whether a secret is told from what anybody may write.
fn is_telling(secret: &str) -> bool {
    let bytes = secret.as_bytes();
    let digits = bytes.iter().filter(|c| c.is_ascii_digit()).count();
    let letters = bytes.iter().filter(|c| c.is_ascii_alphabetic()).count();
    if secret.contains(char::is_whitespace) {
        return false;
    }
    let is_mixed = digits >= 2 && letters >= 2 && !crate::look::is_uuid(secret);
    is_mixed || digits >= 12 || Look::of(secret) >= Look::Opaque
}
