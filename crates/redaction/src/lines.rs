//! Lines of settings: a keyword and, behind a blank, its value, as servers and routers have them.
//!
//! The one idea: a line of few words, one of which is the name of a secret, has it as the next one; what people write
//! has more words, and no values that look as people write passwords.

use crate::columns::is_small_word;
use crate::look::{Look, is_like_password};
use crate::names::Weight;
use crate::ranges::Ranges;
use crate::search::{each, quoted_at};
use crate::work::Work;
use std::ops::Range;

/// A line of more words, or a longer one, is a sentence.
const MAX_WORDS: usize = 8;
const MAX_LINE: usize = 160;
/// What stands before a secret of two ends of a tunnel: `al : EAP "x"`.
const KINDS: [&str; 5] = [": PSK ", ": EAP ", ": XAUTH ", ": NTLM ", ": PIN "];
/// What may stand behind a value: who may do what with it.
const BEHIND: [&str; 6] = ["RO", "RW", "ro", "rw", "ssl", "priv"];
/// Words before a mail server's name.
const MAIL: [&str; 4] = ["[", "smtp.", "mail.", "relay."];

/// Notes the values of such lines.
pub(crate) fn find(work: &mut Work<'_>, text: &str, found: &mut Ranges) {
    for kind in KINDS {
        for (at, _) in each(text, kind) {
            if let Some(value) = quoted_at(text, at + kind.len()) {
                work.note(&text[value.range.clone()]);
                found.add(value.range);
            }
        }
    }
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        // A line of settings begins with a small letter or the name of a host, and has no marks of sentences.
        let begins = line.trim_start().starts_with(|c: char| c.is_ascii_lowercase() || c == '[');
        if begins && line.len() <= MAX_LINE && ends_with_value(line) {
            find_in_line(work, line, start, found);
        }
    }
}

fn find_in_line(work: &mut Work<'_>, line: &str, start: usize, found: &mut Ranges) {
    let mut words: Vec<&str> = line.split_ascii_whitespace().take(MAX_WORDS + 1).collect();
    if !(2..=MAX_WORDS).contains(&words.len()) || words.iter().any(|word| is_small_word(word)) {
        return;
    }
    let range = |value: &str| -> Range<usize> {
        let from = start + value.as_ptr().addr() - line.as_ptr().addr();
        from..from + value.len()
    };
    // `[mail.example]:587 al:x`.
    if let [host, pair] = words.as_slice()
        && is_mail_server(host)
        && let Some((user, password)) = pair.split_once(':')
        && !user.is_empty()
        && password.bytes().any(|c| c.is_ascii_digit())
        && is_like_password(password)
    {
        work.note(password);
        return found.add(range(password));
    }
    if words.len() > 2 && words.last().is_some_and(|last| BEHIND.contains(last)) {
        words.pop();
    }
    // A digit says how it is sealed.
    let Some(value) = words.pop() else { return };
    if words.len() > 1
        && words.last().is_some_and(|last| last.len() == 1 && last.as_bytes()[0].is_ascii_digit())
    {
        words.pop();
    }
    let Some(name) = words.last().filter(|name| !name.ends_with([':', '=', ',', '.'])) else {
        return;
    };
    let is_community = *name == "community" && words[0].starts_with("snmp");
    let bare = value.trim_matches('"');
    if bare.starts_with('-') || bare.contains('=') {
        return;
    }
    let is_value = is_like_password(bare) || (bare.len() >= 8 && Look::of(bare) >= Look::Opaque);
    let is_name = |work: &mut Work<'_>| {
        is_community || (is_keyword(name) && work.weigh(name) == Weight::Secret)
    };
    if is_value && is_name(work) && work.hides(Weight::Secret, bare) {
        found.add(range(bare));
    }
}

/// Whether the last word of a line may be a value, or stand behind one: cheap, for of most lines it is not.
fn ends_with_value(line: &str) -> bool {
    let last = line.trim_ascii_end().rsplit([' ', '\t']).next().unwrap_or_default();
    let is_no_letter = |c: u8| !c.is_ascii_lowercase() && c.is_ascii_graphic();
    let is_value =
        last.len() >= 6 && last.bytes().any(is_no_letter) && !last.ends_with([',', '.', ')']);
    is_value || BEHIND.contains(&last)
}

/// `[mail.example]:587`, `smtp.example`.
fn is_mail_server(word: &str) -> bool {
    let fits = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'-' | b'[' | b']' | b':');
    word.contains('.') && word.bytes().all(fits) && MAIL.iter().any(|begin| word.starts_with(begin))
}

/// A word of small letters, as settings are named.
fn is_keyword(word: &str) -> bool {
    word.bytes()
        .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'-' | b'_' | b'.'))
}
