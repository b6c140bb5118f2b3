//! Texts in which nothing was found: keyed hashes of the last ones, by which they are not looked through again.
//!
//! The one idea: most of what a page sends it sends again and again, its headers above all. What was harmless
//! once is harmless by every rule but one: a secret that was seen since may stand in it.

use crate::kind::Kind;
use siphasher::sip::SipHasher13;
use std::fmt;
use std::hash::Hasher;

/// How many texts are remembered; a new one takes the place of an old one.
const PLACES: usize = 2048;
/// The shortest and the longest that are remembered, in bytes: a shorter one is looked through as fast.
const SHORTEST: usize = 16;
const LONGEST: usize = 4096;

/// The last harmless texts of one tab.
pub(crate) struct Harmless {
    key: [u8; 16],
    places: Vec<u64>,
}

/// What it holds goes to no log.
impl fmt::Debug for Harmless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Harmless").finish_non_exhaustive()
    }
}

/// The hash of a text of a kind.
#[derive(Clone, Copy)]
pub(crate) struct Mark(u64);

impl Harmless {
    pub(crate) fn new(key: [u8; 16]) -> Self {
        Self { key, places: Vec::new() }
    }

    /// By what a text is remembered, if it is of a length to be.
    pub(crate) fn mark(&self, text: &str, kind: Kind) -> Option<Mark> {
        if !(SHORTEST..=LONGEST).contains(&text.len()) {
            return None;
        }
        let mut hasher = SipHasher13::new_with_key(&self.key);
        hasher.write_u8(kind as u8);
        hasher.write(text.as_bytes());
        Some(Mark(hasher.finish()))
    }

    pub(crate) fn knows(&self, mark: Mark) -> bool {
        self.places.get(place(mark)) == Some(&mark.0)
    }

    pub(crate) fn note(&mut self, mark: Mark) {
        if self.places.is_empty() {
            // No text has this hash in the first place: it belongs to another one.
            self.places = vec![u64::MAX; PLACES];
        }
        self.places[place(mark)] = mark.0;
    }
}

fn place(mark: Mark) -> usize {
    usize::try_from(mark.0 % PLACES as u64).unwrap_or_default()
}
