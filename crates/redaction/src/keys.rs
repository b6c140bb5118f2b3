//! Keys that no beginning tells: blocks that are cut or of another make, the second half of a pair, and
//! lists of bytes.

use crate::ranges::Ranges;
use crate::search::each;
use crate::work::Work;

/// How a block of a key ends (RFC 7468).
const END: &str = "-----END ";
/// How `PuTTY` begins the private half of its files.
const PRIVATE_LINES: &str = "Private-Lines:";
/// No private half has more lines.
const MAX_LINES: usize = 256;
/// The beginnings of Amazon's names of keys.
const NAMES_OF_KEYS: [&str; 2] = ["AKIA", "ASIA"];
/// How long the key is that belongs to such a name, and how far from it it may stand, in bytes.
const PAIRED: usize = 40;
const NEAR: usize = 160;
/// How many bytes a pair of keys of Ed25519 has.
const KEY_PAIR: usize = 64;

/// Notes private keys in lines of base64.
pub(crate) fn find_blocks(text: &str, found: &mut Ranges) {
    for (end, _) in each(text, END) {
        let label = text[end + END.len()..].split("-----").next().unwrap_or_default();
        if label.len() < 64 && label.contains("PRIVATE") {
            found.add(end - base64_before(&text[..end])..end);
        }
    }
    for (at, _) in each(text, PRIVATE_LINES) {
        let mut lines = text[at + PRIVATE_LINES.len()..].split_inclusive('\n');
        let first = lines.next().unwrap_or_default();
        let count = first.trim();
        // How many it says counts only where that may be: a longer number hides all that there may be.
        let count = if count.len() > 4 { MAX_LINES } else { count.parse().unwrap_or_default() };
        let start = at + PRIVATE_LINES.len() + first.len();
        let length: usize = lines.take(count.min(MAX_LINES)).map(str::len).sum();
        found.add(start..start + text[start..start + length].trim_end().len());
    }
}

/// The length of the lines of base64 with which a text ends.
fn base64_before(text: &str) -> usize {
    let is_base64 = |line: &&str| {
        let line = line.trim();
        let fits = |c: u8| c.is_ascii_alphanumeric() || b"+/=".contains(&c);
        !line.is_empty() && line.bytes().all(fits)
    };
    text.split_inclusive('\n').rev().take_while(is_base64).map(str::len).sum()
}

/// Notes the keys that stand a few words behind their names.
pub(crate) fn find_pairs(work: &mut Work<'_>, text: &str, found: &mut Ranges) {
    for name in NAMES_OF_KEYS {
        for (at, _) in each(text, name) {
            let near = &text[at..text.floor_char_boundary(at + NEAR)];
            let fits = |c: char| c.is_ascii_alphanumeric() || c == '/' || c == '+';
            for word in near.split(|c| !fits(c)) {
                if word.len() == PAIRED && is_mixed(word) {
                    let start = word.as_ptr().addr() - text.as_ptr().addr();
                    work.note(word);
                    found.add(start..start + word.len());
                }
            }
        }
    }
}

fn is_mixed(word: &str) -> bool {
    let has = |fits: fn(&u8) -> bool| word.bytes().any(|c| fits(&c));
    has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}

/// Whether a text is a list of as many bytes as a pair of keys has, and nothing else, as Solana's tools
/// write it.
pub(crate) fn is_list_of_bytes(json: &str) -> bool {
    let inner = json.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let is_bytes = |inner: &str| {
        let mut numbers = inner.split(',');
        inner.len() <= 6 * KEY_PAIR && numbers.all(|number| number.trim().parse::<u8>().is_ok())
    };
    inner.is_some_and(|inner| is_bytes(inner) && inner.split(',').count() == KEY_PAIR)
}
