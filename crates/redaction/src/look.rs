//! The look of a value: whether it is a key of a known kind, random, unlike words, or plain.
//!
//! The one idea: words of people have letters in an order that languages have, and random letters have
//! not. What is long and of no language, or turns between letters and digits all the time, was made by a
//! machine; whether that makes it a secret, its name says.

use crate::classes::is_in_key;
use crate::shapes;

/// What a value looks like, from the least to the most telling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Look {
    /// Words, numbers, dates, UUIDs, paths, names of files, or too short to say.
    Plain,
    /// Unlike words, and at least eight characters: a secret where its name says that it may be one.
    Opaque,
    /// A long random text.
    Random,
    /// A key or token of a kind that says so itself.
    Known,
}

/// From which length on a text may be opaque.
const MIN_OPAQUE: usize = 8;
/// The longest value that is looked at as one word, in bytes.
const LONGEST_WORD: usize = 32;
/// From which length on a text may be random.
const MIN_RANDOM: usize = 20;
/// What is longer is looked at up to here, in bytes.
const MAX_LOOK: usize = 1024;

impl Look {
    /// The look of a whole value.
    pub fn of(value: &str) -> Self {
        let value = value.trim();
        if value.len() < MIN_OPAQUE {
            return Self::Plain;
        }
        if is_one_word(value) {
            let is_opaque = is_strange(value.as_bytes());
            return if is_opaque { Self::Opaque } else { Self::Plain };
        }
        if shapes::is_known(value) {
            return Self::Known;
        }
        let value = &value[..value.floor_char_boundary(MAX_LOOK)];
        if let Some(joined) = joined_groups(value) {
            return Self::of(&joined);
        }
        if !value.bytes().all(is_part) || is_named_thing(value) {
            return Self::Plain;
        }
        if value.len() >= MIN_RANDOM && is_mixed(value.as_bytes()) {
            return Self::Random;
        }
        if is_unlike_words(value) { Self::Opaque } else { Self::Plain }
    }
}

/// Small letters alone, the first of which may be a capital: most values are, and keys of known kinds are
/// longer or have other characters.
fn is_one_word(value: &str) -> bool {
    value.len() <= LONGEST_WORD
        && value.bytes().skip(1).all(|c| c.is_ascii_lowercase())
        && value.as_bytes()[0].is_ascii_alphabetic()
}

/// `JBSW Y3DP EHPK 3PXP`, `B2YY-CDEC-JTLY-B3Q5`: groups of capitals and digits for people to type.
fn joined_groups(value: &str) -> Option<String> {
    if value.len() > 80 || !value.contains([' ', '-']) {
        return None;
    }
    let mut groups = value.split([' ', '-']);
    let fits = |group: &str| {
        (4..=6).contains(&group.len())
            && group.bytes().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
    };
    let all = groups.clone().all(fits) && groups.nth(1).is_some();
    let has_letters = value.bytes().any(|c| c.is_ascii_uppercase());
    (all && has_letters).then(|| value.replace([' ', '-'], ""))
}

/// What a token is made of.
fn is_part(c: u8) -> bool {
    is_in_key(c) || b"!*$%@#&^?,".contains(&c)
}

/// Random texts change between capitals, small letters and digits all the time.
fn is_mixed(value: &[u8]) -> bool {
    let count = |fits: fn(&u8) -> bool| value.iter().filter(|c| fits(c)).count();
    let (letters, digits) = (count(u8::is_ascii_alphabetic), count(u8::is_ascii_digit));
    letters >= 4 && digits >= 2 && turns(value) * 5 >= value.len()
}

/// How often the kind of character changes.
fn turns(value: &[u8]) -> usize {
    let kind = |c: u8| (c.is_ascii_lowercase(), c.is_ascii_uppercase(), c.is_ascii_digit());
    let both = |pair: &&[u8]| pair.iter().all(u8::is_ascii_alphanumeric);
    value.windows(2).filter(both).filter(|pair| kind(pair[0]) != kind(pair[1])).count()
}

/// UUIDs, paths, names of files, addresses, and what else is long and says what it is.
fn is_named_thing(value: &str) -> bool {
    is_uuid(value) || is_path(value) || is_numeric(value) || value.contains("://") || is_mail(value)
}

fn is_mail(value: &str) -> bool {
    let parts = value.split_once('@').filter(|(user, _)| !user.is_empty());
    parts.is_some_and(|(_, host)| {
        let letters = |part: &str| {
            part.len() >= 2 && part.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-')
        };
        host.contains('.') && host.split('.').all(letters)
    })
}

/// `550e8400-e29b-41d4-a716-446655440000`.
pub(crate) fn is_uuid(value: &str) -> bool {
    let value = value.strip_prefix("urn:uuid:").unwrap_or(value).trim_matches(['{', '}']);
    let mut groups = value.split('-');
    let fits = [8, 4, 4, 4, 12]
        .iter()
        .all(|length| groups.next().is_some_and(|group| group.len() == *length));
    fits && groups.next().is_none() && value.bytes().all(|c| c.is_ascii_hexdigit() || c == b'-')
}

fn is_path(value: &str) -> bool {
    let is_file = value.rsplit_once('.').is_some_and(|(before, ending)| {
        let letters = ending.bytes().filter(u8::is_ascii_lowercase).count();
        !before.is_empty()
            && (2..=5).contains(&ending.len())
            && letters * 2 > ending.len()
            && ending.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    });
    is_file || value.starts_with('/') || value.starts_with("./") || value.starts_with("../")
}

/// Numbers, dates, times, versions, addresses of machines: mostly digits, and what parts them.
fn is_numeric(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    digits > 0 && letters * 4 <= digits && letters <= 5
}

/// Whether a text of letters, or of letters and digits, is of no language.
fn is_unlike_words(value: &str) -> bool {
    let mut words = Humps { value, at: 0 };
    let (mut strange, mut plain, mut rest) = (0, 0, 0);
    for word in &mut words {
        let bytes = word.as_bytes();
        if bytes[0].is_ascii_digit() {
            rest += bytes.len();
        } else if bytes.len() >= MIN_OPAQUE && is_strange(bytes) {
            strange += bytes.len();
        } else if bytes.len() >= 4 && !is_strange(bytes) {
            plain += bytes.len();
        } else {
            rest += bytes.len();
        }
    }
    let bytes = value.as_bytes();
    let has = |fits: fn(&u8) -> bool| bytes.iter().any(fits);
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    // Pieces of one to three letters between digits and capitals are of no language either.
    let pieces = turns(bytes) * 4 >= bytes.len();
    strange > plain || (is_mixed && pieces && rest * 2 > bytes.len())
}

/// Whether a text is written as people write passwords: no word, number, path or address, and of letters with digits,
/// or of both sizes with marks.
pub(crate) fn is_like_password(value: &str) -> bool {
    let has = |fits: fn(&u8) -> bool| value.bytes().any(|c| fits(&c));
    let is_graphic = value.bytes().all(|c| c.is_ascii_graphic() || !c.is_ascii());
    let is_other = value.starts_with(['/', '.', '<', '$', '{', '#', '%'])
        || value.contains("://")
        || value.contains('/')
        || is_mail(value);
    let has_sizes = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let is_mixed = has(u8::is_ascii_alphabetic)
        && (has(u8::is_ascii_digit) || (has_sizes && has(u8::is_ascii_punctuation)));
    (6..=128).contains(&value.len())
        && is_graphic
        && !is_other
        && is_mixed
        && !is_uuid(value)
        && !is_path(value)
}

/// Whether the letters follow each other as in no language.
pub(crate) fn is_strange(word: &[u8]) -> bool {
    let all = word.len().saturating_sub(2);
    let rare = word.windows(3).filter(|three| !is_common(three)).count();
    all > 0 && rare * 100 >= all * 35
}

/// Words of a name: parted by what is no letter and no digit, between digits and letters, and where a
/// capital begins a new one.
struct Humps<'a> {
    value: &'a str,
    at: usize,
}

impl<'a> Iterator for Humps<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let bytes = self.value.as_bytes();
        while bytes.get(self.at).is_some_and(|c| !c.is_ascii_alphanumeric()) {
            self.at += 1;
        }
        let start = self.at;
        let first = *bytes.get(start)?;
        self.at += 1;
        while let Some(c) = bytes.get(self.at).filter(|c| c.is_ascii_alphanumeric()) {
            let before = bytes[self.at - 1];
            let turns = c.is_ascii_digit() != first.is_ascii_digit()
                || (c.is_ascii_uppercase() && before.is_ascii_lowercase());
            if turns {
                break;
            }
            self.at += 1;
        }
        Some(&self.value[start..self.at])
    }
}

/// For each two letters those that follow them in at least 8 of 100,000 places in the word list of one of
/// nine languages (Dutch, English, French, German, Italian, Polish, Portuguese, Spanish, Swedish; without
/// accents).
const FOLLOWING: &str = include_str!("trigrams.txt");
/// One bit for three letters.
static COMMON: [u32; 26 * 26] = common(FOLLOWING.as_bytes());

const fn common(lines: &[u8]) -> [u32; 26 * 26] {
    let mut table = [0; 26 * 26];
    let mut at = 0;
    while at + 3 < lines.len() {
        let pair = (lines[at] - b'a') as usize * 26 + (lines[at + 1] - b'a') as usize;
        at += 3;
        while at < lines.len() && lines[at] != b'\n' {
            table[pair] |= 1 << (lines[at] - b'a');
            at += 1;
        }
        at += 1;
    }
    table
}

fn is_common(three: &[u8]) -> bool {
    let at = |c: u8| usize::from(c.to_ascii_lowercase().wrapping_sub(b'a'));
    let [a, b, c] = [at(three[0]), at(three[1]), at(three[2])];
    a < 26 && b < 26 && c < 26 && COMMON[a * 26 + b] & (1 << c) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_machines_make_is_told_from_words() {
        for value in
            ["qzjxkvbwpfmtgrhs", "k3J9xQ2mN8", "a7x2m9k4q8w3", "xK9-mQ2-vB7-pL4", "uvwqkzjdpbxc"]
        {
            assert_eq!(Look::of(value), Look::Opaque, "{value}");
        }
        for value in ["dGhpcyBpcyBub3QgYSBzZWNyZXQ0Mg", "9f86d081884c7d659a2feaa0c55ad015"] {
            assert_eq!(Look::of(value), Look::Random, "{value}");
        }
        for value in [
            "",
            "short",
            "internationalization",
            "getUserAccountInformation",
            "Donaudampfschifffahrt",
            "ERR_CONNECTION_REFUSED",
            "2026-11-22T20:30:51.123Z",
            "550e8400-e29b-41d4-a716-446655440000",
            "application/x-www-form-urlencoded",
            "main.3f2a9c8b7d6e5f4a.js",
            "1.2.3-beta.4",
            "INV-2024-00123",
            "ada@shop.example",
            "v2beta1",
            "SHA256withRSA",
            "img_20240101_123456",
            "client_credentials",
        ] {
            assert_eq!(Look::of(value), Look::Plain, "{value}");
        }
    }
}
