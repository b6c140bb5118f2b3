//! Shapes: keys and tokens that say themselves what they are, wherever they stand.
//!
//! The one idea: their makers gave them a beginning by which leaks are found (GitHub's and Stripe's
//! prefixes, a JSON Web Token's `ey`, the lines around a private key), and so do we find them.

use crate::classes::{is_alnum, is_in_key, is_word};
use crate::prefixes::prefixes_of;
use crate::ranges::Ranges;
use std::ops::Range;

/// How much of a word is looked at, in bytes: many that begin alike take no longer than their number.
const MAX_WORD: usize = 256;
/// The same of the first part of a JSON Web Token, which may hold certificates.
const MAX_HEAD: usize = 2048;
/// Keys of Stripe and of those who write theirs like it: `sk_live_…`, `rk_test_…`, `sk-proj-…`.
const STRIPE_LIKE: [&str; 4] = ["sk_", "sk-", "rk_", "rk-"];
/// Hashes of passwords (`crypt(3)`, PHC string format).
const CRYPT: [&str; 11] = [
    "$1$", "$apr1$", "$2a$", "$2b$", "$2y$", "$argon2", "$scrypt$", "$5$", "$6$", "$y$", "$pbkdf2",
];
/// The shortest key of a known kind that begins with a letter, in bytes.
pub(crate) const SHORTEST_KEY: usize = 12;
/// How blocks of keys begin (RFC 7468, RFC 4880 section 6.2).
pub(crate) const BLOCK: &str = "-----BEGIN ";
/// The shortest of the keys that are told by a mark within them, and of those by their parts, in bytes.
const SHORTEST_MARKED: usize = 23;
const SHORTEST_OTHER: usize = 34;
const SHORTEST_SIGNED: usize = 50;
/// How much of a block's first line is looked at, in bytes.
const MAX_LABEL: usize = 64;

/// Notes the secrets of known kinds in a text.
pub(crate) fn find(text: &str, found: &mut Ranges) {
    let bytes = text.as_bytes();
    // How far what a key is made of goes on: looked for once, and not again from each mark within it.
    let (mut at, mut reach) = (0, 0);
    while bytes.len() - at >= SHORTEST_KEY.min(bytes.len()) && at < bytes.len() {
        let c = bytes[at];
        if c == b'-'
            && bytes[at..].starts_with(BLOCK.as_bytes())
            && let Some(end) = end_of_block(text, at)
        {
            found.add(at..end);
            at = end;
            continue;
        }
        if !is_alnum(c) && c != b'$' {
            at += 1;
            continue;
        }
        // Most words are too short for any of them; numbers of people and cards have groups.
        if at >= reach {
            reach = at + bytes[at..].iter().take_while(|c| is_in_key(**c)).count();
        }
        let is_begun = !matches!(c, b'$' | b'0'..=b'9');
        if is_begun && reach - at < SHORTEST_KEY {
            at = reach.max(at + 1);
            continue;
        }
        let word = at..end_of_word(bytes, at);
        // A short word that is not the beginning of a longer one.
        let goes_on = matches!(bytes.get(word.end), Some(b'.' | b':' | b'/' | b'$' | b'~' | b'-'));
        if word.len() < SHORTEST_KEY && !goes_on && is_begun {
            at = word.end;
            continue;
        }
        at = match known_at(text, &word, reach - at) {
            Some(end) => {
                // Of a long one, only its beginning was looked at.
                let is_cut = end - at >= MAX_WORD;
                let rest = bytes[end..].iter().take_while(|c| is_cut && is_in_key(**c)).count();
                found.add(at..end + rest);
                end + rest
            }
            // The next one begins behind what is no letter and no digit.
            None => at + run(&bytes[at..], is_alnum).max(1),
        };
    }
}

/// Whether a text is a secret of a known kind from its first to its last character.
pub(crate) fn is_known(text: &str) -> bool {
    if text.len() < 12 {
        return false;
    }
    let mut found = Ranges::default();
    find(text, &mut found);
    found.is_all_of(text)
}

/// The block of a private key, or of anything that PGP seals. Certificates and public keys are for all.
fn end_of_block(text: &str, start: usize) -> Option<usize> {
    let rest = &text[start + BLOCK.len()..];
    let label = &rest[..rest.floor_char_boundary(MAX_LABEL)];
    let label = label.split_once("-----").map_or(label, |(label, _)| label);
    let is_secret = label.contains("PRIVATE")
        || label.contains("PGP MESSAGE")
        || label.contains("SSH2 ENCRYPTED")
        || label.contains("OpenVPN Static");
    if !is_secret {
        return None;
    }
    let end = rest.find("-----END ").map(|at| {
        let tail = &rest[at + 9..];
        let close = tail[..tail.floor_char_boundary(MAX_LABEL)].find("-----");
        start + BLOCK.len() + at + 9 + close.map_or(0, |at| at + 5)
    });
    Some(end.unwrap_or(text.len()))
}

fn end_of_word(bytes: &[u8], start: usize) -> usize {
    start + run(&bytes[start..], is_word)
}

/// Where the secret ends whose first word this is, if it is one. `reach` is how far what a key is made of
/// goes on, in bytes.
fn known_at(text: &str, word: &Range<usize>, reach: usize) -> Option<usize> {
    let rest = &text[word.start..];
    let bytes = rest.as_bytes();
    match bytes[0] {
        b'$' if rest.starts_with("$ANSIBLE_VAULT") => return Some(text.len()),
        b'$' => return crypt(rest).map(|length| word.start + length),
        b'e' if rest.starts_with("ey") => {
            if let Some(length) = json_web_token(bytes) {
                return Some(word.start + length);
            }
        }
        b'v' if is_paseto(rest) => return Some(word.start + run(bytes, is_token)),
        b'0'..=b'9' => {
            if let Some(length) = bot_token(bytes) {
                return Some(word.start + length);
            }
        }
        b'S' if rest.starts_with("SG.") && run(bytes, is_token) >= 24 => {
            return Some(word.start + run(bytes, is_token));
        }
        _ => {}
    }
    if let Some(length) = other_kinds(text, word, reach) {
        return Some(word.start + length);
    }
    let is_stripe_like =
        matches!(bytes[0], b's' | b'r') && STRIPE_LIKE.iter().any(|begin| rest.starts_with(begin));
    if is_stripe_like {
        let length = word.len();
        let last = rest[..length].rsplit(['_', '-']).find(|part| part.len() >= 12);
        if last.is_some() || has_secret_part(&rest[..length]) {
            return Some(word.end);
        }
    }
    let alike = prefixes_of(bytes[0]);
    let second = bytes.get(1);
    let mut alike = alike.iter().filter(|(prefix, ..)| prefix.as_bytes().get(1) == second);
    let prefixed = alike.find_map(|(prefix, least, is_url)| {
        let rest = rest.strip_prefix(prefix)?.as_bytes();
        let fits = |c: u8| if *is_url { is_token(c) } else { is_alnum(c) };
        let length = run(rest, fits);
        (length >= *least).then_some(word.start + prefix.len() + length)
    });
    if prefixed.is_some() || reach < SHORTEST_MARKED {
        return prefixed;
    }
    let signed = if reach >= SHORTEST_SIGNED { three_parts(text, word) } else { None };
    signed.or_else(|| marked(&text[word.clone()]).then_some(word.end))
}

/// Kinds that are told by more than their beginning.
fn other_kinds(text: &str, word: &Range<usize>, reach: usize) -> Option<usize> {
    let rest = &text[word.start..];
    let (bytes, length) = (rest.as_bytes(), word.len());
    let all = |fits: fn(&u8) -> bool| bytes[..length].iter().all(fits);
    match bytes[0] {
        // Keys of Twilio.
        b'S' if length == 34
            && rest[2..34].bytes().all(|c| c.is_ascii_hexdigit())
            && bytes[1] == b'K' =>
        {
            return Some(length);
        }
        // Seeds of Stellar: 56 letters of base32.
        b'S' if length == 56 && all(|c| c.is_ascii_uppercase() || (b'2'..=b'7').contains(c)) => {
            return Some(length);
        }
        // Private keys in Bitcoin's wallet import format: base58.
        b'5' | b'K' | b'L' if (51..=52).contains(&length) && all(u8::is_ascii_alphanumeric) => {
            return (turns_much(&bytes[..length])).then_some(length);
        }
        b'p' if rest.starts_with("pbkdf2_sha") => return crypt_tail(bytes),
        b'S' if rest.starts_with("SCRAM-SHA-") => return crypt_tail(bytes),
        b'b' if rest.starts_with("bot") => return bot_token(&bytes[3..]).map(|length| length + 3),
        b'0'..=b'9' => {
            if let Some(length) = card_number(bytes) {
                return Some(length);
            }
        }
        b'e' if rest.starts_with("eJ") => return signed_by_django(bytes),
        _ => {}
    }
    if let Some(length) = social_security(bytes) {
        return Some(length);
    }
    if reach < SHORTEST_OTHER {
        return None;
    }
    // Keys of Mailchimp end with the name of their data center.
    if (36..=37).contains(&length) && rest[..length].get(32..35) == Some("-us") {
        return rest[..32].bytes().all(|c| c.is_ascii_hexdigit()).then_some(length);
    }
    if reach >= SHORTEST_SIGNED
        && let Some(length) = signed_by_rails(bytes)
    {
        return Some(length);
    }
    // Secrets of Azure's applications have this mark in them.
    if bytes.iter().take(8).any(|c| *c == b'~') {
        let token = run(bytes, |c| is_token(c) || c == b'~');
        if (34..=44).contains(&token) && rest[..token].contains("8Q~") {
            return Some(token);
        }
    }
    if reach >= SHORTEST_SIGNED { two_parts(bytes) } else { None }
}

fn turns_much(word: &[u8]) -> bool {
    let kind = |c: u8| (c.is_ascii_lowercase(), c.is_ascii_uppercase());
    word.windows(2).filter(|pair| kind(pair[0]) != kind(pair[1])).count() * 4 >= word.len()
}

fn crypt_tail(bytes: &[u8]) -> Option<usize> {
    let length = run(bytes, |c| is_alnum(c) || b"$./+=:_-".contains(&c));
    (length >= 40 && bytes[..length].contains(&b'$')).then_some(length)
}

/// `eJx…:1rAbCd:…`: what Django signs, packed.
fn signed_by_django(bytes: &[u8]) -> Option<usize> {
    let length = run(bytes, |c| is_word(c) || c == b':');
    let parts = bytes[..length].split(|c| *c == b':');
    (parts.count() == 3 && length >= 50).then_some(length)
}

/// `…--…`: what Rails signs, with a digest at its end, or seals in three parts.
fn signed_by_rails(bytes: &[u8]) -> Option<usize> {
    let length = run(bytes, |c| is_alnum(c) || b"+/=-_".contains(&c));
    if length < 50 {
        return None;
    }
    let word = str::from_utf8(&bytes[..length]).ok().filter(|word| word.contains("--"))?;
    let parts: Vec<&str> = word.split("--").collect();
    let is_hex = |part: &str| part.len() >= 40 && part.bytes().all(|c| c.is_ascii_hexdigit());
    let is_base64 = |part: &&str| part.len() >= 12 && part.bytes().any(|c| c.is_ascii_uppercase());
    let is_it = match parts.as_slice() {
        [first, last] => first.len() >= 16 && is_hex(last),
        [_, _, _] => parts.iter().all(is_base64),
        _ => false,
    };
    is_it.then_some(length)
}

/// Numbers of the social security of the United States: `123-45-6789`.
fn social_security(bytes: &[u8]) -> Option<usize> {
    if bytes.get(3) != Some(&b'-') {
        return None;
    }
    let length = run(bytes, |c| c.is_ascii_digit() || c == b'-');
    let groups = bytes[..length].split(|c| *c == b'-').map(<[u8]>::len);
    (length == 11 && groups.eq([3, 2, 4])).then_some(length)
}

/// `pat….…`: a name and a long secret of hexadecimal digits.
fn two_parts(bytes: &[u8]) -> Option<usize> {
    let first = run(bytes, is_alnum);
    let rest = bytes.get(first + 1..)?;
    let second = run(rest, |c| c.is_ascii_hexdigit());
    let is_it = (10..=40).contains(&first) && bytes[first] == b'.' && second >= 60;
    is_it.then_some(first + 1 + second)
}

/// Payment cards: 15 or 16 digits in their makers' ranges with a check digit, perhaps in groups of four
/// (ISO/IEC 7812-1, Luhn).
fn card_number(bytes: &[u8]) -> Option<usize> {
    let length =
        run(&bytes[..bytes.len().min(19)], |c| c.is_ascii_digit() || c == b' ' || c == b'-');
    if length < 15 {
        return None;
    }
    let text = &bytes[..length];
    let has_groups = text.iter().any(|c| !c.is_ascii_digit());
    let fits =
        !has_groups || (length == 19 && [4, 9, 14].iter().all(|at| !text[*at].is_ascii_digit()));
    let digits: Vec<u32> =
        text.iter().filter(|c| c.is_ascii_digit()).map(|c| u32::from(c - b'0')).collect();
    let is_end = bytes.get(length).is_none_or(|c| !is_alnum(*c) && *c != b'.');
    let first_two = digits.first()? * 10 + digits.get(1)?;
    let is_range = match digits.len() {
        15 => matches!(first_two, 34 | 37),
        16 => matches!(first_two, 40..=49 | 51..=55 | 22..=27 | 60 | 65),
        _ => false,
    };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match (at % 2, digit * 2) {
            (0, _) => *digit,
            (_, double) => double / 10 + double % 10,
        })
        .sum();
    (fits && is_end && is_range && sum.is_multiple_of(10)).then_some(length)
}

fn has_secret_part(word: &str) -> bool {
    word.len() >= 24 && word.bytes().any(|c| c.is_ascii_digit())
}

fn is_token(c: u8) -> bool {
    is_word(c) || c == b'.'
}

/// How many bytes fit, of those that are looked at.
fn run(bytes: &[u8], fits: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take(MAX_WORD).take_while(|c| fits(**c)).count()
}

/// RFC 7519 and RFC 7516: parts of base64url with dots between, the first of which is `{"` in base64.
fn json_web_token(bytes: &[u8]) -> Option<usize> {
    let first = bytes.iter().take(MAX_HEAD).take_while(|c| is_word(**c)).count();
    let is_head = matches!(bytes.get(2), Some(b'J' | b'K' | b'A' | b'I'));
    if !is_head || first < 8 || bytes.get(first) != Some(&b'.') {
        return None;
    }
    let rest = run(&bytes[first..], is_token);
    Some(first + rest)
}

/// `v4.local.…`: PASETO's version, purpose and payload.
fn is_paseto(rest: &str) -> bool {
    let mut parts = rest.splitn(3, '.');
    let version = parts.next().is_some_and(|part| part.len() == 2);
    let purpose = parts.next().is_some_and(|part| matches!(part, "local" | "public"));
    version && purpose && parts.next().is_some_and(|part| run(part.as_bytes(), is_token) >= 16)
}

/// `123456789:AA…`: Telegram's bots.
fn bot_token(bytes: &[u8]) -> Option<usize> {
    let id = run(bytes, |c| c.is_ascii_digit());
    if !(6..=12).contains(&id) || bytes.get(id) != Some(&b':') {
        return None;
    }
    let secret = run(&bytes[id + 1..], is_word);
    (secret >= 30).then_some(id + 1 + secret)
}

fn crypt(rest: &str) -> Option<usize> {
    let fits = |c: u8| is_alnum(c) || b"$./+=,-_".contains(&c);
    let length = run(rest.as_bytes(), fits);
    (length >= 20 && CRYPT.iter().any(|begin| rest.starts_with(begin))).then_some(length)
}

/// Three parts of base64url with dots between, long and mixed, as Discord, Django and Flask sign theirs.
fn three_parts(text: &str, word: &Range<usize>) -> Option<usize> {
    let bytes = &text.as_bytes()[word.start..];
    if word.len() < 10 || bytes.get(word.len()) != Some(&b'.') {
        return None;
    }
    let whole = &text[word.start..word.start + run(bytes, is_token)];
    let parts: Vec<&str> = whole.split('.').collect();
    let is_long = (3..=5).contains(&parts.len()) && whole.len() >= 50;
    let is_signed = parts.last().is_some_and(|last| last.len() >= 20);
    let mixed = |part: &&str| {
        let has = |fits: fn(&u8) -> bool| part.bytes().any(|c| fits(&c));
        has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
    };
    let is_mixed = parts.iter().filter(|part| mixed(part)).count() >= 2;
    (is_long && is_signed && is_mixed).then_some(word.start + whole.len())
}

/// `acme_live_…`: small letters, a mark, and a long mixed text.
fn marked(word: &str) -> bool {
    if word.len() < SHORTEST_MARKED {
        return false;
    }
    let Some((before, last)) = word.rsplit_once('_') else { return false };
    let has = |fits: fn(&u8) -> bool| last.bytes().any(|c| fits(&c));
    let is_mixed =
        has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let is_prefix = (2..=16).contains(&before.len())
        && before.bytes().all(|c| c.is_ascii_lowercase() || c == b'_' || c.is_ascii_digit());
    is_prefix && is_mixed && last.len() >= 20
}
