//! Commands: of shells, and calls of programs; with those of databases and protocols, and sentences.
//!
//! The one idea: here a value has no sign before it, it has a place: behind a flag, in the column of its
//! name, as the next argument, or a few words behind the word for it.

use crate::classes::{DASH, QUOTE};
use crate::kind::Kind;
use crate::look::Look;
use crate::names::Weight;
use crate::ranges::Ranges;
use crate::search::{
    Arguments, Quoted, Search, behind_comma, call_before, count, is_behind_string, is_in_name,
    is_quote, last_argument, position, quoted_at, quoted_before,
};
use crate::signs::{IDENTIFIED, MACHINE, PASSWORD, ROWS, Signs, VALUE};
use crate::work::Work;
use std::ops::Range;

/// Notes the secrets that stand in their place.
pub(crate) fn find(work: &mut Work<'_>, text: &str, kind: Kind, signs: Signs, found: &mut Ranges) {
    let mut search = Search { work, text, bytes: text.as_bytes(), found };
    if signs.has(DASH) && has_flag(search.bytes) {
        search.flags();
        search.programs();
    }
    if signs.has(QUOTE) {
        search.pairs();
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

/// Where the secret is that belongs to a flag.
#[derive(Clone, Copy, PartialEq)]
enum Given {
    /// The next argument.
    Next,
    /// The rest of the same argument.
    Glued,
    /// The next argument behind its first colon, or its percent sign.
    Behind(char),
    /// The last argument of all.
    Last,
}

/// Programs with short flags for secrets, by their manuals.
const PROGRAMS: [(&str, &str, Given); 20] = [
    ("sshpass", "-p", Given::Next),
    ("sshpass", "-p", Given::Glued),
    ("login", "-p", Given::Next),
    ("mysql", "-p", Given::Glued),
    ("mysqldump", "-p", Given::Glued),
    ("mysqladmin", "-p", Given::Glued),
    ("mariadb", "-p", Given::Glued),
    ("mariadb-dump", "-p", Given::Glued),
    ("curl", "-u", Given::Behind(':')),
    ("curl", "--user", Given::Behind(':')),
    ("curl", "--proxy-user", Given::Behind(':')),
    ("redis-cli", "-a", Given::Next),
    ("smbclient", "-U", Given::Behind('%')),
    ("ldapsearch", "-w", Given::Next),
    ("mongosh", "-p", Given::Next),
    ("mongo", "-p", Given::Next),
    ("sqlcmd", "-P", Given::Next),
    ("mosquitto_pub", "-P", Given::Next),
    ("mosquitto_sub", "-P", Given::Next),
    ("htpasswd", "-b", Given::Last),
];
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
    fn judge_argument(&mut self, range: Range<usize>) {
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

    fn programs(&mut self) {
        for (program, flag, given) in PROGRAMS {
            let mut from = 0;
            while let Some(at) = self.text[from..].find(program).map(|at| from + at) {
                let end = at + program.len();
                from = end;
                let begins = at == 0 || !is_in_name(self.bytes[at - 1]);
                if begins && matches!(self.bytes.get(end), Some(b' ' | b'\t')) {
                    from = self.program(end, flag, given).max(end);
                }
            }
        }
        // `kubectl create secret … --from-literal=name=x`.
        let (flag, mut from) = ("--from-literal=", 0);
        while let Some(at) = self.text[from..].find(flag).map(|at| from + at + flag.len()) {
            let mut arguments = Arguments { text: self.text, at };
            let pair = arguments.next();
            from = arguments.at.max(at);
            if let Some(pair) = pair
                && let Some(name) = self.text[pair.clone()].find('=')
            {
                self.judge_argument(pair.start + name + 1..pair.end);
            }
        }
        // `echo x | docker login --password-stdin`.
        for asked in ["-stdin", "sudo -S"] {
            for (at, _) in self.text.match_indices(asked) {
                let start = self.text.ceil_char_boundary(at.saturating_sub(256));
                let before = &self.text[start..at];
                let line = before.rfind('\n').map_or(0, |line| line + 1);
                let Some(echo) = before[line..].rfind("echo ") else { continue };
                if before[line + echo..].contains('|') {
                    let at = start + line + echo + 5;
                    if let Some(value) = (Arguments { text: self.text, at }).next() {
                        self.judge_argument(value);
                    }
                }
            }
        }
    }

    /// The arguments of one program; answers where they end.
    fn program(&mut self, start: usize, flag: &str, given: Given) -> usize {
        let mut arguments = Arguments { text: self.text, at: start };
        let (mut is_asked, mut last) = (false, None);
        while let Some(argument) = arguments.next() {
            let word = &self.text[argument.clone()];
            let is_glued =
                word.len() > flag.len() && word.starts_with(flag) && !flag.starts_with("--");
            let value = match given {
                Given::Glued if is_glued => Some(argument.start + flag.len()..argument.end),
                Given::Next if word == flag => arguments.next(),
                Given::Behind(sign) if word == flag || is_glued => {
                    let value = if is_glued { Some(argument.clone()) } else { arguments.next() };
                    value.and_then(|value| {
                        let at = self.text[value.clone()].find(sign)?;
                        Some(value.start + at + 1..value.end)
                    })
                }
                Given::Last => {
                    is_asked |= word.starts_with('-') && word.contains('b');
                    None
                }
                _ => None,
            };
            if let Some(value) = value {
                self.judge_argument(value);
            }
            last = Some(argument);
        }
        if let Some(last) = last.filter(|_| is_asked) {
            self.judge_argument(last);
        }
        arguments.at
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
        self.calls();
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

    /// `setPassword("x")`, `login("al", "x")`, `btoa("al:x")`.
    fn calls(&mut self) {
        let mut at = 0;
        while let Some(open) = position(self.bytes, at, |c| c == b'(') {
            at = open + 1;
            let call = call_before(self.text, at);
            if let Some((weight, least)) = last_is_secret(call)
                && let Some((count, last)) = last_argument(self.text, at)
                && count >= least
            {
                self.judge(weight, last);
            }
            let Some(first) = quoted_at(self.text, at) else { continue };
            let lower = call.to_ascii_lowercase();
            let name = ["set", "with"]
                .iter()
                .find_map(|set| lower.starts_with(set).then(|| &call[set.len()..]));
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                let is_one =
                    self.bytes[first.end..].iter().skip(1).find(|c| !c.is_ascii_whitespace());
                if is_one == Some(&b')') && self.work.weigh(name) == Weight::Secret {
                    self.judge(Weight::Secret, first.range);
                }
            } else if matches!(
                lower.as_str(),
                "login" | "signin" | "sign_in" | "authenticate" | "auth"
            ) {
                if let Some(second) = behind_comma(self.text, first.end) {
                    self.judge(Weight::Telling, second.range);
                }
            } else if TYPING.contains(&lower.as_str()) {
                if self.is_typed_into_secret(call) {
                    self.judge(Weight::Secret, first.range);
                }
            } else if matches!(lower.as_str(), "btoa" | "b64encode" | "base64_encode" | "encode64")
            {
                let user = self.text[first.range.clone()].find(':');
                if let Some(colon) = user {
                    self.judge(Weight::Telling, first.range.start + colon + 1..first.range.end);
                }
            }
        }
    }

    /// `get('#password').type`: what was looked up is named as a secret.
    fn is_typed_into_secret(&mut self, call: &str) -> bool {
        let start = call.as_ptr().addr() - self.text.as_ptr().addr();
        let Some(quote) = self.text[..start].strip_suffix(").").map(|before| before.len() - 1)
        else {
            return false;
        };
        let is_name = is_quote(self.bytes[quote]);
        let name = if is_name { quoted_before(self.text, quote) } else { None };
        name.is_some_and(|name| self.work.weigh(&self.text[name]) == Weight::Secret)
    }
}

/// Calls that write what they are given into what was looked up before them.
const TYPING: [&str; 6] = ["type", "val", "fill", "sendkeys", "send_keys", "setvalue"];

/// What is said of the last argument by the name of a call, and how many texts in quotes it has at least:
/// `signInWithEmailAndPassword`, `createHmac`, and `open` of requests that have a user and a password.
fn last_is_secret(call: &str) -> Option<(Weight, usize)> {
    match call {
        "createHmac" | "sign" | "verify" => Some((Weight::Telling, 1)),
        "open" => Some((Weight::Secret, 4)),
        _ => call.ends_with("AndPassword").then_some((Weight::Secret, 1)),
    }
}
