//! Secrets by their look, whatever they are called.

use super::HIDDEN;
use regex::{Captures, Regex};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Texts that are nothing but secrets: JSON Web Tokens, private keys, keys of known makers, and what an
/// address has before its host.
static KNOWN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let known = r"(?x)
        -----BEGIN\ [A-Z\ ]{0,30}PRIVATE\ KEY-----(?s:.)*?(?:-----END\ [A-Z\ ]{0,30}-----|\z)
        | (?-u:\b)(?:
            ey[JK][A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*)*
            | (?:sk|rk|whsec)[_-](?:[A-Za-z0-9]{1,12}[_-]){0,3}[A-Za-z0-9]{12,}[A-Za-z0-9_-]*
            | gh[opsur]_[A-Za-z0-9]{16,} | github_pat_[A-Za-z0-9_]{16,} | glpat-[A-Za-z0-9_-]{16,}
            | npm_[A-Za-z0-9]{16,} | pypi-[A-Za-z0-9_-]{16,} | hf_[A-Za-z0-9]{16,}
            | xox[a-z]-[A-Za-z0-9-]{8,} | xapp-[A-Za-z0-9-]{8,}
            | SG\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}
            | (?:AKIA|ASIA)[A-Z0-9]{12,} | AIza[A-Za-z0-9_-]{20,} | ya29\.[A-Za-z0-9_-]{8,}
            | baton_[A-Za-z0-9_-]{16,} | AGE-SECRET-KEY-1[A-Z0-9]+
        )";
    Regex::new(known).ok()
});

/// Credentials behind the word for their kind.
static SCHEME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?-u:\b([Bb]earer|BEARER|[Bb]asic|BASIC)([ +]|%20))([A-Za-z0-9._~+/=-]{6,})").ok()
});

/// The user, and the password, of an address.
static USER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?-u:\b)([A-Za-z][A-Za-z0-9+.-]{1,20}://)[^\s/?\#@"'<>\\]{1,512}@"#).ok()
});

/// Addresses that are all content.
static DATA: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let data = r#"(?-u:\b)(data:)[A-Za-z]+/[A-Za-z0-9.+-]+(?:;[A-Za-z0-9=._-]+){0,4},[^\s"'<>)]*"#;
    Regex::new(data).ok()
});

/// From which length on a text may be random.
const MIN_RANDOM: usize = 20;
/// How long a word of a few letters may be behind `Bearer` and still be prose.
const MAX_PROSE: usize = 20;

/// The text without what is a secret by its look.
pub fn hide(text: &str) -> Cow<'_, str> {
    let mut text = hide_known(text);
    // Most texts are short and have none of these: looking for a word is cheaper than for a pattern.
    let has_scheme = ["earer", "EARER", "asic", "ASIC"].iter().any(|word| text.contains(word));
    if has_scheme {
        text = and_then(text, hide_credentials);
    }
    if text.contains("://") && text.contains('@') {
        text =
            and_then(text, |text| replace(&USER, text, |found| format!("{}{HIDDEN}@", &found[1])));
    }
    if text.contains("data:") {
        text =
            and_then(text, |text| replace(&DATA, text, |found| format!("{}{HIDDEN}", &found[1])));
    }
    text
}

fn hide_credentials(text: &str) -> Cow<'_, str> {
    replace(&SCHEME, text, |found| {
        let is_prose = is_prose(&found[3]);
        if is_prose { found[0].to_owned() } else { format!("{}{}{HIDDEN}", &found[1], &found[2]) }
    })
}

fn hide_known(text: &str) -> Cow<'_, str> {
    // A text of a few letters again and again, as in a filler, is the pattern's worst case.
    let has_any = text.contains(['-', '_', '.'])
        || ["AKIA", "ASIA", "AIza"].iter().any(|word| text.contains(word));
    if !has_any {
        return Cow::Borrowed(text);
    }
    replace(&KNOWN, text, |_| HIDDEN.to_owned())
}

/// Whether a text is a secret of a known kind from its first to its last character.
pub fn is_known(text: &str) -> bool {
    !text.is_empty() && hide_known(text) == HIDDEN
}

/// A pattern that is not there hides everything: nothing is shown because of a mistake of ours.
fn replace<'a>(
    pattern: &LazyLock<Option<Regex>>,
    text: &'a str,
    with: impl Fn(&Captures<'_>) -> String,
) -> Cow<'a, str> {
    match pattern.as_ref() {
        Some(pattern) => pattern.replace_all(text, with),
        None => Cow::Borrowed(HIDDEN),
    }
}

/// Changes a text that may have been changed before.
pub(super) fn and_then(
    text: Cow<'_, str>,
    change: impl FnOnce(&str) -> Cow<'_, str>,
) -> Cow<'_, str> {
    let changed = match change(&text) {
        Cow::Borrowed(same) if *same == *text => None,
        changed => Some(changed.into_owned()),
    };
    changed.map_or(text, Cow::Owned)
}

/// `Bearer authentication` is no credential.
fn is_prose(text: &str) -> bool {
    let word = text.trim_end_matches(['=', '.', '-']);
    let is_word = word.bytes().all(|c| c.is_ascii_lowercase());
    is_word && word.len() < MAX_PROSE
}

/// Whether a value is a long random text. Words, numbers, dates, UUIDs, paths and names of files are not.
pub fn is_random(value: &str) -> bool {
    let fits = |c: u8| c.is_ascii_alphanumeric() || b"-_+/=.~".contains(&c);
    value.len() >= MIN_RANDOM
        && value.bytes().all(fits)
        && is_mixed(value.as_bytes())
        && !is_uuid(value)
        && !is_path(value)
}

/// Random texts change between capitals, small letters and digits all the time.
fn is_mixed(value: &[u8]) -> bool {
    let count = |fits: fn(&u8) -> bool| value.iter().filter(|c| fits(c)).count();
    let (letters, digits) = (count(u8::is_ascii_alphabetic), count(u8::is_ascii_digit));
    let kind = |c: u8| (c.is_ascii_lowercase(), c.is_ascii_uppercase(), c.is_ascii_digit());
    let both = |pair: &&[u8]| pair.iter().all(u8::is_ascii_alphanumeric);
    let turns = value.windows(2).filter(both).filter(|pair| kind(pair[0]) != kind(pair[1])).count();
    letters >= 4 && digits >= 2 && turns * 5 >= value.len()
}

fn is_uuid(value: &str) -> bool {
    let groups: Vec<usize> = value.split('-').map(str::len).collect();
    groups == [8, 4, 4, 4, 12] && value.bytes().all(|c| c.is_ascii_hexdigit() || c == b'-')
}

fn is_path(value: &str) -> bool {
    let is_file = value.rsplit_once('.').is_some_and(|(_, ending)| {
        (2..=5).contains(&ending.len())
            && ending.bytes().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    });
    is_file || value.starts_with('/') || value.starts_with("./")
}
