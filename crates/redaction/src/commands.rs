//! Commands: of shells, and calls of programs; with those of databases and protocols, and sentences.
//!
//! The one idea: here a value has no sign before it, it has a place: behind a flag, in the column of its
//! name, as the next argument, or a few words behind the word for it.

use crate::classes::{AT, DASH, OPEN, QUOTE, SPACE};
use crate::kind::Kind;
use crate::look::Look;
use crate::names::Weight;
use crate::ranges::Ranges;
use crate::search::{
    Arguments, Quoted, Search, behind_comma, call_before, count, is_behind_string, is_in_name,
    is_quote, position, quoted_at, quoted_before,
};
use crate::signs::{IDENTIFIED, MACHINE, PASSWORD, PROGRAM, ROWS, Signs, VALUE};
use crate::work::Work;
use std::ops::Range;

/// Notes the secrets that stand in their place.
pub(crate) fn find(work: &mut Work<'_>, text: &str, kind: Kind, signs: Signs, found: &mut Ranges) {
    let mut search = Search { work, text, bytes: text.as_bytes(), found };
    if signs.has(DASH) && has_flag(search.bytes) {
        search.flags();
        search.programs();
    } else if signs.has(PROGRAM) {
        search.programs();
    }
    if signs.has(QUOTE) {
        search.pairs();
    }
    if signs.has(OPEN) {
        search.calls(kind == Kind::Prose);
    }
    if signs.has(PASSWORD | IDENTIFIED) && signs.has(QUOTE) {
        search.passwords_in_sql();
    }
    if signs.has(ROWS) {
        search.rows_of_sql();
    }
    if kind == Kind::Code {
        return;
    }
    if signs.has(IDENTIFIED) {
        search.unquoted_in_sql();
    }
    search.protocols();
    if signs.has(QUOTE) && signs.has(SPACE) {
        search.quoted_protocols();
    }
    if signs.has(AT) {
        search.users_of_hosts();
    }
    if signs.has(MACHINE) {
        search.netrc();
    }
    if signs.has(VALUE) {
        search.sentences();
    }
}

/// Whether a dash stands behind a blank, and a letter or another dash behind it.
fn has_flag(bytes: &[u8]) -> bool {
    let is_flag = |three: &[u8]| {
        three[1] == b'-'
            && matches!(three[0], b' ' | b'\t')
            && (three[2] == b'-' || three[2].is_ascii_alphabetic())
    };
    bytes.windows(3).any(is_flag)
}

/// Ends of flags that say where the secret comes from.
const ELSEWHERE: [&str; 9] =
    ["stdin", "file", "path", "prompt", "fd", "env", "command", "cmd", "helper"];
/// Words of people behind the name of a flag.
const WORDS_BEHIND_FLAGS: [&str; 28] = [
    "a",
    "an",
    "and",
    "argument",
    "as",
    "cannot",
    "flag",
    "flags",
    "for",
    "from",
    "in",
    "instead",
    "is",
    "must",
    "of",
    "on",
    "option",
    "options",
    "or",
    "parameter",
    "string",
    "the",
    "to",
    "value",
    "was",
    "will",
    "with",
    "your",
];

impl Search<'_, '_> {
    /// `--password x`, `-pass pass:x`.
    fn flags(&mut self) {
        let mut at = 0;
        while let Some(dash) = self.text[at..].find('-').map(|dash| at + dash) {
            let length =
                count(self.bytes, dash, |c| c.is_ascii_alphanumeric() || b"-_".contains(&c));
            at = dash + length;
            let begins = dash == 0 || self.bytes[dash - 1].is_ascii_whitespace();
            let name = self.text[dash..at].trim_start_matches('-');
            // Between a flag and what explains it is more than one blank.
            let is_apart =
                self.bytes[at..].iter().take(2).filter(|c| c.is_ascii_whitespace()).count() == 1
                    && matches!(self.bytes[at], b' ' | b'\t');
            if !begins || !is_apart || name.len() < 3 || self.work.weigh(name) < Weight::Secret {
                continue;
            }
            let last = name.rsplit(['-', '_']).next().unwrap_or_default();
            if ELSEWHERE.contains(&last) {
                continue;
            }
            if let Some(value) = (Arguments { text: self.text, at }).next() {
                self.judge_argument(value);
            }
        }
    }

    /// An argument, if it is not a place for one, a variable, or a word of people.
    pub(crate) fn judge_argument(&mut self, range: Range<usize>) {
        let value = &self.text[range.clone()];
        let is_elsewhere = ["env:", "file:", "fd:"].iter().any(|place| value.starts_with(place));
        let is_word = WORDS_BEHIND_FLAGS.contains(&value.to_ascii_lowercase().as_str());
        let is_place = value.starts_with(['-', '<', '$', '[', '@']) || value == "stdin";
        let names_itself = Look::of(value) == Look::Plain
            && value.bytes().all(|c| c.is_ascii_uppercase() || b"_-%{}".contains(&c));
        if is_elsewhere || is_word || is_place || names_itself {
            return;
        }
        // OpenSSL says that it comes at once.
        let start = if value.starts_with("pass:") { 5 } else { 0 };
        self.judge(Weight::Secret, range.start + start..range.end);
    }

    /// A name in quotes, and its value in quotes behind a comma or an arrow.
    fn pairs(&mut self) {
        let mut at = 0;
        while let Some(quote) = position(self.bytes, at, is_quote) {
            at = quote + 1;
            self.pair_of_erlang(quote);
            let Some(value) = behind_comma(self.text, quote) else { continue };
            let Some(name) = quoted_before(self.text, quote) else { continue };
            let weight = self.work.weigh(&self.text[name.clone()]);
            if weight == Weight::Plain {
                continue;
            }
            let is_list = is_behind_string(self.bytes, name.start) || value.is_listed;
            let is_one = match weight {
                Weight::Secret => self.is_value_of_pair(&name, &value, is_list),
                _ => call_before(self.text, name.start) == "define",
            };
            if is_one {
                self.judge(weight, value.range.clone());
            }
        }
    }

    /// `{password,<<"…">>}`, if the quote here begins such a text.
    fn pair_of_erlang(&mut self, quote: usize) {
        let Some(before) = self.text[..quote].strip_suffix(",<<") else { return };
        let length = before.bytes().rev().take(64).take_while(|c| is_in_name(*c)).count();
        let weight = self.work.weigh(&before[before.len() - length..]);
        if let Some(value) = quoted_at(self.text, quote) {
            self.judge(weight, value.range);
        }
    }

    /// Lists of names and translations look the same as a name with its value.
    fn is_value_of_pair(&mut self, name: &Range<usize>, value: &Quoted, is_list: bool) -> bool {
        // The quotes of a text within a text are none of it.
        let text = self.text[value.range.clone()].trim_matches(['\\', '"', '\'']);
        if Look::of(text) >= Look::Opaque {
            return true;
        }
        let is_mixed = text.len() >= 6 && text.bytes().any(|c| c.is_ascii_digit());
        if text.contains(char::is_whitespace) || self.work.weigh(text) == Weight::Secret {
            return false;
        }
        let call = call_before(self.text, name.start).to_ascii_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| call.contains(part));
        let sets =
            has(&["set", "append", "define", "header", "put", "constant", "reveal", "env", "fill"])
                && !has(&[
                    "error",
                    "attribute",
                    "type",
                    "message",
                    "label",
                    "title",
                    "text",
                    "rule",
                ]);
        is_mixed || (!is_list && (value.is_arrow || sets))
    }
}
