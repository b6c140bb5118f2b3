//! Phrases: the words from which a wallet's keys are made (BIP 39), wherever twelve of them or more stand in a row.
//!
//! The one idea: all words are of one list, of which a table of bits is kept. Of words of people one in five passes
//! it, and twelve in a row do not. A run of twelve is too long to lie between two looks, so most of a text is not
//! looked at.

use crate::ranges::Ranges;
use std::ops::Range;

/// The least words of a phrase.
const LEAST: usize = 12;
/// The shortest and the longest word of the list, in bytes.
const SHORTEST: usize = 3;
const LONGEST: usize = 8;
/// What may stand between two words, in bytes: blanks, commas, the number of the next one.
const BETWEEN: usize = 6;
/// The shortest phrase, in bytes.
pub(crate) const SHORTEST_PHRASE: usize = LEAST * (SHORTEST + 1) - 1;
/// A look at each so many bytes meets a word of any phrase.
const STEP: usize = SHORTEST_PHRASE - LONGEST - BETWEEN;

/// A bit for each hash that a word of the English list has, as hexadecimal digits, the lowest bit first.
const BITS: &str = include_str!("phrases.txt");
const COUNT: usize = 8192;
static LISTED: [u8; COUNT / 8] = listed(BITS.as_bytes());

const fn listed(lines: &[u8]) -> [u8; COUNT / 8] {
    const fn digit(c: u8) -> u8 {
        if c.is_ascii_digit() { c - b'0' } else { c - b'a' + 10 }
    }
    let (mut bits, mut at, mut byte) = ([0; COUNT / 8], 0, 0);
    while at + 1 < lines.len() {
        if lines[at] == b'\n' {
            at += 1;
            continue;
        }
        bits[byte] = digit(lines[at]) << 4 | digit(lines[at + 1]);
        byte += 1;
        at += 2;
    }
    bits
}

/// Notes the phrases in a text.
pub(crate) fn find(text: &str, found: &mut Ranges) {
    let bytes = text.as_bytes();
    let mut at = STEP;
    // A short text has its words from its beginning on.
    while at < bytes.len() {
        let Some(word) = word_at(bytes, at) else {
            at += STEP;
            continue;
        };
        let (mut phrase, mut count, mut others) = (word, 1, 0);
        loop {
            if let Some(word) = before(bytes, phrase.start) {
                (phrase.start, count) = (word.start, count + 1);
            } else if let Some(other) = other_before(bytes, phrase.start).filter(|_| others == 0) {
                (phrase.start, others) = (other.start, 1);
            } else {
                break;
            }
        }
        loop {
            if let Some(word) = behind(bytes, phrase.end) {
                (phrase.end, count) = (word.end, count + 1);
            } else if let Some(other) = other_behind(bytes, phrase.end).filter(|_| others == 0) {
                // One may be misspelt, or of a list of a wallet's own.
                (phrase.end, others) = (other.end, 1);
            } else {
                break;
            }
        }
        at = at.max(phrase.end) + STEP;
        if count + others >= LEAST {
            found.add(phrase);
        }
    }
}

/// The listed word here, or the next one where none is.
fn word_at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let back =
        bytes[..at].iter().rev().take(LONGEST).take_while(|c| c.is_ascii_alphabetic()).count();
    if back > 0 || bytes[at].is_ascii_alphabetic() {
        return listed_from(bytes, at - back);
    }
    behind(bytes, at)
}

fn listed_from(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let near = &bytes[start..bytes.len().min(start + LONGEST + 1)];
    let length = near.iter().take_while(|c| c.is_ascii_alphabetic()).count();
    is_listed(&near[..length]).then_some(start..start + length)
}

fn behind(bytes: &[u8], end: usize) -> Option<Range<usize>> {
    let between = between(bytes, end);
    if between == 0 { None } else { listed_from(bytes, end + between) }
}

/// A word of small letters, behind which a listed one stands.
fn other_behind(bytes: &[u8], end: usize) -> Option<Range<usize>> {
    let start = end + between(bytes, end);
    let length =
        bytes[start..].iter().take(LONGEST + 1).take_while(|c| c.is_ascii_lowercase()).count();
    let word = start..start + length;
    let fits = start > end && (SHORTEST..=LONGEST).contains(&length);
    (fits && behind(bytes, word.end).is_some()).then_some(word)
}

/// A word of small letters, before which a listed one stands.
fn other_before(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let word = word_before(bytes, start)?;
    let fits = (SHORTEST..=LONGEST).contains(&word.len())
        && bytes[word.clone()].iter().all(u8::is_ascii_lowercase);
    (fits && before(bytes, word.start).is_some()).then_some(word)
}

fn before(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    word_before(bytes, start).filter(|word| is_listed(&bytes[word.clone()]))
}

fn word_before(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let least = start.saturating_sub(BETWEEN);
    let between = (least..start).rev().take_while(|at| parts(bytes, *at)).count();
    let end = start - between;
    let near = bytes[..end].iter().rev().take(LONGEST + 1);
    let length = near.take_while(|c| c.is_ascii_alphabetic()).count();
    let begins = bytes.get(end).is_some_and(|c| !c.is_ascii_digit());
    (between > 0 && begins).then_some(end - length..end)
}

/// How much stands between a word that ends here and the next one.
fn between(bytes: &[u8], end: usize) -> usize {
    let most = bytes.len().min(end + BETWEEN);
    // A digit belongs to the word before it.
    let begins = bytes.get(end).is_some_and(|c| c.is_ascii_whitespace() || *c == b',');
    if begins { (end..most).take_while(|at| parts(bytes, *at)).count() } else { 0 }
}

/// What parts two words: `1. legal 2. winner`, `legal, winner`. A point without a number ends a sentence.
fn parts(bytes: &[u8], at: usize) -> bool {
    let is_behind_digit = || at > 0 && bytes[at - 1].is_ascii_digit();
    match bytes[at] {
        b'.' | b')' => is_behind_digit(),
        c => c.is_ascii_whitespace() || c.is_ascii_digit() || c == b',',
    }
}

fn is_listed(word: &[u8]) -> bool {
    // Where a capital begins a word, a sentence does.
    let is_even =
        word.iter().skip(1).all(|c| c.is_ascii_lowercase() == word[0].is_ascii_lowercase());
    if !(SHORTEST..=LONGEST).contains(&word.len()) || !is_even {
        return false;
    }
    let mix =
        |hash: u32, c: &u8| (hash ^ u32::from(c.to_ascii_lowercase())).wrapping_mul(0x0100_0193);
    let hash = word.iter().fold(0x811c_9dc5, mix);
    let bit = (hash ^ (hash >> 16)) as usize % COUNT;
    LISTED[bit / 8] & (1 << (bit % 8)) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hides(text: &str) -> bool {
        let mut found = Ranges::default();
        find(text, &mut found);
        !found.is_empty()
    }

    #[test]
    fn twelve_words_of_the_list_are_a_phrase() {
        let phrase = "legal winner thank year wave sausage worth useful legal winner thank yellow";
        let numbered: Vec<String> =
            phrase.split(' ').enumerate().map(|(at, word)| format!("{}. {word}", at + 1)).collect();
        assert!(hides(phrase));
        assert!(hides(&format!("Write down these words and keep them: {phrase}. Then go on.")));
        assert!(hides(&phrase.replace(' ', ", ")));
        assert!(hides(&numbered.join(" ")));
        assert!(hides(
            "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"
        ));
        assert!(!hides(&phrase[..phrase.len() - 7]));
        assert!(!hides(
            "a list of words that people have for shops such as shoes books lamps chairs and some more of them"
        ));
        assert!(!hides(
            "red blue green shirt shoes hat gloves socks winter summer spring autumn sale new"
        ));
    }
}
