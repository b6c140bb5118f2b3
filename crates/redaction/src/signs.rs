//! Signs: what there is in a text, found in one look, so that rules that can find nothing are not tried.

use crate::classes::{ALNUM, DASH, DIGIT, DOLLAR, ENDS, IN_KEY, class_of};
use crate::look::Look;
use crate::shapes::{BLOCK, SHORTEST_KEY};

/// Some of the signs below.
#[derive(Clone, Copy)]
pub(crate) struct Signs(u32);

/// The beginning of a word behind which credentials stand.
pub(crate) const SCHEME: u32 = 1 << 20;
/// The end of a word of SQL behind which a password stands.
pub(crate) const PASSWORD: u32 = 1 << 21;
/// The beginning of `identified by`.
pub(crate) const IDENTIFIED: u32 = 1 << 26;
/// The beginning of a command of SQL that brings rows.
pub(crate) const ROWS: u32 = 1 << 27;
/// The beginning of `machine`, as in `.netrc`.
pub(crate) const MACHINE: u32 = 1 << 22;
/// The beginning of `WIFI:`, as codes to be scanned have it.
pub(crate) const WIFI: u32 = 1 << 28;
/// The beginning of `data:`.
pub(crate) const DATA: u32 = 1 << 23;
/// What a key or token of a known kind needs: many characters without a blank, a number of several digits, a
/// dollar sign, or the first line of a block.
pub(crate) const KEY: u32 = 1 << 24;
/// The beginning of a program with a secret at a place of its own.
pub(crate) const PROGRAM: u32 = 1 << 30;
/// A word that is a code, or tells what one is for.
pub(crate) const CODE: u32 = 1 << 29;
/// A word that is long or has a digit, as values have.
pub(crate) const VALUE: u32 = 1 << 25;
/// The shortest number with a meaning, and the shortest word without a digit that is a value, in bytes.
const SHORTEST_NUMBER: usize = 3;
const SHORTEST_VALUE: usize = 8;

impl Signs {
    /// What there is in a text.
    pub(crate) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        // Where the run of characters of keys began, and the word of a sentence.
        let (mut signs, mut at, mut key, mut word) = (0, 0, 0, 0);
        let mut has_digit = false;
        while at < bytes.len() {
            // Most of a text are letters.
            let (start, mut inside) = (at, 0);
            for c in &bytes[at..] {
                let sign = class_of(*c);
                if sign & ALNUM == 0 {
                    break;
                }
                inside |= sign;
                at += 1;
            }
            let length = at - start;
            if inside & DIGIT != 0 {
                has_digit = true;
                inside |= if length >= SHORTEST_NUMBER { KEY } else { 0 };
            }
            if let Some(four) = bytes[start..at].first_chunk() {
                inside |= sign_of_word(&OF_BEGINNINGS, *four);
            } else if let [first, second, third] = bytes[start..at] {
                inside |= sign_of_short([first, second, third]);
            }
            if let Some(four) = bytes[start..at].last_chunk() {
                inside |= sign_of_word(&OF_ENDINGS, *four);
            }
            if let Some(c) = bytes.get(at) {
                let sign = class_of(*c);
                inside |= sign | if sign & DOLLAR != 0 { KEY } else { 0 };
                if sign & IN_KEY == 0 {
                    inside |= if at - key >= SHORTEST_KEY { KEY } else { 0 };
                    key = at + 1;
                } else if sign & DASH != 0 && bytes[at..].starts_with(BLOCK.as_bytes()) {
                    inside |= KEY;
                }
                if sign & ENDS != 0 {
                    // One is enough.
                    if signs & VALUE == 0 {
                        inside |= sign_of_value(&text[word..at], has_digit);
                    }
                    (word, has_digit) = (at + 1, false);
                    // Behind the first byte of another letter no text begins.
                    while !text.is_char_boundary(word) {
                        word += 1;
                    }
                }
                at = word.max(at + 1);
            }
            signs |= inside;
        }
        if signs & VALUE == 0 {
            signs |= sign_of_value(&text[word.min(text.len())..], has_digit);
        }
        signs |= if at - key.min(at) >= SHORTEST_KEY { KEY } else { 0 };
        Self(signs)
    }

    /// Whether one of these is there.
    pub(crate) fn has(self, any: u32) -> bool {
        self.0 & any != 0
    }
}

/// Whether a word of a sentence may be a value: one with a digit, or one of no language.
fn sign_of_value(word: &str, has_digit: bool) -> u32 {
    let is_long = word.len() >= SHORTEST_VALUE;
    let may_be = if has_digit { word.len() >= 4 } else { is_long && is_of_no_language(word) };
    if may_be { VALUE } else { 0 }
}

fn is_of_no_language(word: &str) -> bool {
    Look::of(word.trim_end_matches(['.', ':', '!', '?'])) >= Look::Opaque
}

/// Beginnings of words, in small letters, and what they say.
const BEGINNINGS: [(&[u8; 4], u32); 24] = [
    (b"bear", SCHEME),
    (b"basi", SCHEME),
    (b"dpop", SCHEME),
    (b"nego", SCHEME),
    (b"iden", IDENTIFIED),
    (b"inse", ROWS),
    (b"copy", ROWS),
    (b"mach", MACHINE),
    (b"data", DATA),
    (b"wifi", WIFI),
    (b"sqlp", PROGRAM),
    (b"xfre", PROGRAM),
    (b"rabb", PROGRAM),
    (b"chpa", PROGRAM),
    (b"code", CODE),
    (b"codi", CODE),
    (b"kode", CODE),
    (b"senh", CODE),
    (b"clav", CODE),
    (b"sign", CODE),
    (b"veri", CODE),
    (b"rclo", PROGRAM),
    (b"smbc", PROGRAM),
    (b"vahv", CODE),
];
/// Ends of words, as others are written together: `encrypt(`, `userpassword`.
const ENDINGS: [(&[u8; 4], u32); 10] = [
    (b"word", PASSWORD),
    (b"rase", PASSWORD),
    (b"ring", PASSWORD),
    (b"rypt", PASSWORD),
    (b"code", CODE),
    (b"kode", CODE),
    (b"skod", CODE),
    (b"oden", CODE),
    (b"oodi", CODE),
    (b"disi", CODE),
];
/// With this factor, found by trying, each of them has a place of its own among so many.
const FACTOR: u32 = 0x081a_6e21;
const PLACE_BITS: u32 = 5;
/// Words and what they say, each in its place.
type Places = [(u32, u32); 1 << PLACE_BITS];
static OF_BEGINNINGS: Places = places(&BEGINNINGS);
static OF_ENDINGS: Places = places(&ENDINGS);

const fn places(words: &[(&[u8; 4], u32)]) -> Places {
    let (mut places, mut at) = ([(0, 0); 1 << PLACE_BITS], 0);
    while at < words.len() {
        let (letters, sign) = words[at];
        let word = word(*letters);
        assert!(places[place(word)].1 == 0, "two words have one place: take another factor");
        places[place(word)] = (word, sign);
        at += 1;
    }
    places
}

const fn place(word: u32) -> usize {
    (word.wrapping_mul(FACTOR) >> (u32::BITS - PLACE_BITS)) as usize
}

/// What the first or the last four letters of a word say, in any case.
fn sign_of_word(places: &Places, four: [u8; 4]) -> u32 {
    let word = word(four) | 0x2020_2020;
    let (one, sign) = places[place(word)];
    if one == word { sign } else { 0 }
}

/// The same of a word of three letters.
fn sign_of_short([first, second, third]: [u8; 3]) -> u32 {
    match [first | 0x20, second | 0x20, third | 0x20] {
        [b'p', b'i', b'n']
        | [b'o', b't', b'p']
        | [b't', b'a', b'n']
        | [b'k' | b'c', b'o', b'd']
        | [b'k', b'e', b'y'] => CODE,
        [b'n', b'e', b't'] | [b'w', b'p', b'a'] => PROGRAM,
        _ => 0,
    }
}

const fn word(four: [u8; 4]) -> u32 {
    u32::from_le_bytes(four)
}
