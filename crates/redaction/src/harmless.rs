//! Texts in which nothing was found: keyed hashes of the last ones, by which they are not looked through again.
//!
//! The one idea: most of what a page sends it sends again and again, its headers above all. What was harmless
//! once is harmless by every rule but one: a secret that was seen since may stand in it.
//!
//! And lines of logs say the same again with another number. No rule looks at the digits of a number that
//! stands alone and is too short for a card, only at how many they are: so such numbers count as zeros of
//! their length.

use crate::kind::Kind;
use siphasher::sip::SipHasher13;
use std::fmt;
use std::hash::Hasher;
use std::ops::{Range, RangeInclusive};

/// How many texts are remembered; a new one takes the place of an old one.
const PLACES: usize = 2048;
/// The shortest and the longest that are remembered, in bytes: a shorter one is looked through as fast.
const SHORTEST: usize = 16;
const LONGEST: usize = 4096;

/// The numbers that count as zeros, in digits: shorter ones may be a part of a name (`sha 256`), longer ones
/// may be of a card.
const NUMBERS: RangeInclusive<usize> = 5..=12;
const ZEROS: [u8; 12] = [b'0'; 12];

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
pub(crate) struct HarmlessHash(u64);

impl Harmless {
    pub(crate) fn new(key: [u8; 16]) -> Self {
        Self { key, places: Vec::new() }
    }

    /// By what a text is remembered, if it is of a length to be.
    pub(crate) fn mark(&self, text: &str, kind: Kind) -> Option<HarmlessHash> {
        if !(SHORTEST..=LONGEST).contains(&text.len()) {
            return None;
        }
        let mut hasher = SipHasher13::new_with_key(&self.key);
        hasher.write_u8(kind as u8);
        write(text.as_bytes(), &mut hasher);
        Some(HarmlessHash(hasher.finish()))
    }

    pub(crate) fn knows(&self, mark: HarmlessHash) -> bool {
        self.places.get(place(mark)) == Some(&mark.0)
    }

    pub(crate) fn note(&mut self, mark: HarmlessHash) {
        if self.places.is_empty() {
            // No text has this hash in the first place: it belongs to another one.
            self.places = vec![u64::MAX; PLACES];
        }
        self.places[place(mark)] = mark.0;
    }
}

/// Hashes a text with the numbers in it as zeros that stand alone: between blanks, and beside no other one,
/// with which it may be a card's.
fn write(text: &[u8], hasher: &mut SipHasher13) {
    let (mut from, mut at, mut alone, mut is_behind_number) = (0, 0, None, false);
    for word in text.split(u8::is_ascii_whitespace) {
        if !word.is_empty() {
            let is_number = word[0].is_ascii_digit() && word.iter().all(u8::is_ascii_digit);
            if is_number {
                let counts = !is_behind_number && NUMBERS.contains(&word.len());
                alone = counts.then(|| at..at + word.len());
            } else if let Some(number) = alone.take() {
                from = write_number(text, from, number, hasher);
            }
            is_behind_number = is_number;
        }
        at += word.len() + 1;
    }
    if let Some(number) = alone {
        from = write_number(text, from, number, hasher);
    }
    hasher.write(&text[from..]);
}

/// Hashes what comes before a number, and that; answers where it ends.
fn write_number(text: &[u8], from: usize, number: Range<usize>, hasher: &mut SipHasher13) -> usize {
    hasher.write(&text[from..number.start]);
    hasher.write(&ZEROS[..number.len()]);
    number.end
}

fn place(mark: HarmlessHash) -> usize {
    usize::try_from(mark.0 % PLACES as u64).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks_alike(one: &str, other: &str) -> bool {
        let harmless = Harmless::new([7; 16]);
        let mark = |text| harmless.mark(text, Kind::Prose).map(|mark| mark.0);
        mark(one) == mark(other)
    }

    #[test]
    fn numbers_that_stand_alone_count_as_any_of_their_length() {
        assert!(marks_alike("order 88213 was paid", "order 90417 was paid"));
        assert!(marks_alike("104822 order was paid", "104823 order was paid"));
        assert!(marks_alike("paid was the\torder 104822", "paid was the\torder 104823"));
    }

    #[test]
    fn what_may_be_more_than_a_number_counts_as_what_it_is() {
        for (one, other) in [
            ("order 88213 was paid", "order 104822 was paid"),
            ("a name like sha 256 of it", "a name like sha 512 of it"),
            ("a card 4111 1111 1111 1111", "a card 4111 1111 1111 1112"),
            ("a card 41111 11111 111111", "a card 41111 11111 111112"),
            ("a card 4111111111111111", "a card 4111111111111112"),
            ("a word p55555 of letters", "a word p55556 of letters"),
            ("an instant 12:00:00.12345", "an instant 12:00:00.12346"),
            ("order 88213 was paid", "order 88213  was paid"),
        ] {
            assert!(!marks_alike(one, other), "{one} and {other}");
        }
    }
}
