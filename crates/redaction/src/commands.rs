//! Commands: of shells, databases and protocols, calls of programs, and sentences.
//!
//! The one idea: here a value has no sign before it, it has a place: behind a flag, in the column of its
//! name, as the next argument, or a few words behind the word for it.

use crate::look::Look;
use crate::names::Weight;
use crate::ranges::Ranges;
use crate::text::Kind;
use crate::work::Work;
use std::collections::VecDeque;
use std::ops::Range;

/// Notes the secrets that stand in their place.
pub(crate) fn find(work: &mut Work<'_>, text: &str, kind: Kind, found: &mut Ranges) {
    let mut search = Search { work, text, bytes: text.as_bytes(), found };
    if text.contains(" -") || text.contains("\t-") {
        search.flags();
        search.programs();
    }
    if text.contains(['"', '\'', '`']) {
        search.pairs();
        search.passwords_in_sql();
    }
    search.rows_of_sql();
    if kind == Kind::Code {
        return;
    }
    search.unquoted_in_sql();
    search.protocols();
    search.netrc();
    search.sentences();
}

struct Search<'s, 'w> {
    work: &'s mut Work<'w>,
    text: &'s str,
    bytes: &'s [u8],
    found: &'s mut Ranges,
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
    fn judge(&mut self, weight: Weight, range: Range<usize>) -> bool {
        let hides = weight > Weight::Plain && self.work.hides(weight, &self.text[range.clone()]);
        if hides {
            self.found.add(range);
        }
        hides
    }

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
            let Some(value) = behind_comma(self.text, quote) else { continue };
            let Some(name) = quoted_before(self.text, quote) else { continue };
            if self.work.weigh(self.text[name.clone()].trim_start_matches(['-', '~', ':']))
                == Weight::Secret
            {
                let is_list = is_behind_string(self.bytes, name.start) || value.is_listed;
                if self.is_value_of_pair(&name, &value, is_list) {
                    self.judge(Weight::Secret, value.range.clone());
                }
            }
        }
        self.calls();
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
        let sets = has(&["set", "append", "define", "header", "put", "constant", "reveal", "env"])
            && !has(&["error", "attribute", "type", "message", "label", "title", "text", "rule"]);
        is_mixed || (!is_list && (value.is_arrow || sets))
    }

    /// `setPassword("x")`, `login("al", "x")`, `btoa("al:x")`.
    fn calls(&mut self) {
        let mut at = 0;
        while let Some(open) = position(self.bytes, at, |c| c == b'(') {
            at = open + 1;
            let call = call_before(self.text, at);
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
            } else if matches!(lower.as_str(), "btoa" | "b64encode" | "base64_encode" | "encode64")
            {
                let user = self.text[first.range.clone()].find(':');
                if let Some(colon) = user {
                    self.judge(Weight::Telling, first.range.start + colon + 1..first.range.end);
                }
            }
        }
    }

    /// `PASSWORD 'x'`, `PASSWORD = N'x'`, `IDENTIFIED … BY 'x'`, `crypt('x', …)`, `SecureString "x"`.
    fn passwords_in_sql(&mut self) {
        for word in ["password", "passphrase", "identified by", "securestring", "crypt("] {
            let mut from = 0;
            while let Some(at) = find_folded(self.bytes, word, from) {
                from = at + word.len();
                let mut start = from + count(self.bytes, from, |c| c.is_ascii_whitespace());
                if word == "password" && matches!(self.bytes.get(start), Some(b'=' | b'(')) {
                    start += 1;
                    start += count(self.bytes, start, |c| c == b' ');
                } else if start == from && !word.ends_with('(') {
                    continue;
                }
                start += count(self.bytes, start, |c| matches!(c, b'N' | b'E')).min(1);
                let Some(value) = quoted_at(self.text, start) else { continue };
                let inner = &self.text[value.range.clone()];
                if !inner.contains(char::is_whitespace) && self.work.weigh(inner) < Weight::Secret {
                    self.judge(Weight::Secret, value.range);
                }
            }
        }
    }

    /// `IDENTIFIED BY x`.
    fn unquoted_in_sql(&mut self) {
        let mut from = 0;
        while let Some(at) = find_folded(self.bytes, "identified by ", from) {
            from = at + 14;
            let length =
                count(self.bytes, from, |c| c.is_ascii_graphic() && !b"\"'`;,".contains(&c));
            self.judge(Weight::Secret, from..from + length);
        }
    }

    /// `INSERT INTO t (a, password) VALUES ('…', 'x')`, `COPY t (a, password) FROM stdin`.
    fn rows_of_sql(&mut self) {
        for word in ["insert into ", "copy "] {
            let mut from = 0;
            while let Some(at) = find_folded(self.bytes, word, from) {
                from = at + word.len();
                let Some((columns, end)) = self.columns(from) else { continue };
                let start = end + count(self.bytes, end, |c| c.is_ascii_whitespace());
                let rest = &self.bytes[start..];
                let begins = |word: &str| {
                    rest.get(..word.len())
                        .is_some_and(|begin| begin.eq_ignore_ascii_case(word.as_bytes()))
                };
                if begins("values") {
                    from = self.values(start + 6, &columns);
                } else if begins("from stdin") {
                    from = self.copied(start, &columns);
                }
            }
        }
    }

    /// What the columns weigh that stand in the next parentheses, if one does at all.
    fn columns(&mut self, from: usize) -> Option<(Vec<Weight>, usize)> {
        let near = &self.text[from..self.text.floor_char_boundary(from + 160)];
        let open = from + near.find('(')? + 1;
        let near = &self.text[open..self.text.floor_char_boundary(open + 4096)];
        let close = near.find([')', '(', ';', '\'']).filter(|at| near[*at..].starts_with(')'))?;
        let names =
            near[..close].split(',').map(|name| name.trim_matches(['`', '"', '[', ']', ' ', '\n']));
        let weights: Vec<Weight> = names.map(|name| self.work.weigh(name)).collect();
        weights.iter().any(|weight| *weight > Weight::Plain).then_some((weights, open + close + 1))
    }

    /// Rows of values in parentheses; answers where they end.
    fn values(&mut self, start: usize, columns: &[Weight]) -> usize {
        let (mut at, mut column, mut depth) = (start, 0, 0_usize);
        while let Some(c) = self.bytes.get(at) {
            match c {
                b'\'' | b'"' => {
                    let end = end_of_sql(self.bytes, at);
                    let weight = columns.get(column).filter(|_| depth == 1);
                    self.judge(weight.copied().unwrap_or(Weight::Plain), at + 1..end);
                    at = end;
                }
                b'(' => {
                    column = if depth == 0 { 0 } else { column };
                    depth += 1;
                }
                b')' | b';' if depth == 0 => return at,
                b')' => depth -= 1,
                b',' if depth == 1 => column += 1,
                c if depth == 0 && c.is_ascii_alphabetic() => return at,
                _ => {}
            }
            at += 1;
        }
        self.text.len()
    }

    /// Rows of cells between tabs, up to `\.`.
    fn copied(&mut self, start: usize, columns: &[Weight]) -> usize {
        let mut at = self.text[start..].find('\n').map_or(self.text.len(), |end| start + end + 1);
        for line in self.text[at..].split_inclusive('\n') {
            if line.starts_with("\\.") {
                break;
            }
            let mut cell = at;
            for (index, value) in line.trim_end().split('\t').enumerate() {
                let weight = columns.get(index).copied().unwrap_or(Weight::Plain);
                self.judge(weight, cell..cell + value.len());
                cell += value.len() + 1;
            }
            at += line.len();
        }
        at
    }

    /// `machine … login … password x`, over lines.
    fn netrc(&mut self) {
        let mut from = 0;
        while let Some(at) = self.text[from..].find("machine ").map(|at| from + at) {
            let begins = at == 0 || self.bytes[at - 1].is_ascii_whitespace();
            from = at + 8;
            let mut words = Words { text: self.text, at };
            while let Some(key) = words.next().filter(|_| begins) {
                let is_password = match &self.text[key] {
                    "password" => true,
                    "machine" | "login" | "account" => false,
                    _ => break,
                };
                let Some(value) = words.next() else { break };
                from = value.end;
                if is_password {
                    self.judge(Weight::Secret, value);
                }
            }
        }
    }

    /// Lines of protocols, and of files with one secret a line.
    fn protocols(&mut self) {
        let is_one = !self.text.trim_end().contains('\n');
        let (mut at, mut waits) = (0, Waits::Nothing);
        for line in self.text.split_inclusive('\n') {
            let start = at;
            at += line.len();
            self.pgpass(line.trim_end(), start);
            let length = line.trim_end_matches(['\0', '\n', '\r', ' ']).len();
            if length > 4096 {
                continue;
            }
            let end = start + length;
            let mut words: Vec<Range<usize>> =
                Words { text: &self.text[..end], at: start }.take(9).collect();
            waits = self.answer(waits, &words);
            if words.len() > 8 || words.is_empty() {
                continue;
            }
            let skipped = self.before_verb(&words);
            words.drain(..skipped);
            waits = self.command(&words, is_one, waits);
        }
    }

    /// `host:port:database:user:password`.
    fn pgpass(&mut self, line: &str, start: usize) {
        if line.len() > 512 || line.bytes().filter(|c| *c == b':').count() != 4 {
            return;
        }
        let parts: Vec<&str> = line.split(':').collect();
        let is_port = parts[1] == "*"
            || (parts[1].len() >= 4 && parts[1].bytes().all(|c| c.is_ascii_digit()));
        let is_name = |part: &&str| {
            !part.is_empty()
                && part.bytes().all(|c| c.is_ascii_alphanumeric() || b"-._*".contains(&c))
        };
        let is_line = is_port && parts[..4].iter().all(is_name) && !parts[4].contains(' ');
        if is_line {
            let end = start + line.len();
            self.judge(Weight::Secret, end - parts[4].len()..end);
        }
    }

    /// The second half of an exchange: base64 behind `AUTH LOGIN`, or Redis's length and value.
    fn answer(&mut self, waits: Waits, words: &[Range<usize>]) -> Waits {
        let [word] = words else { return waits.after_other() };
        let text = &self.text[word.clone()];
        match waits {
            Waits::Answers(left) if left > 0 => {
                let is_base64 = text.len() >= 4
                    && text.bytes().all(|c| c.is_ascii_alphanumeric() || b"+/=".contains(&c));
                if is_base64 {
                    self.judge(Weight::Secret, word.clone());
                }
                Waits::Answers(left - 1)
            }
            Waits::Bulk if text.starts_with('$') => Waits::Bulk,
            Waits::Bulk if !text.starts_with('*') => {
                self.judge(Weight::Secret, word.clone());
                Waits::Bulk
            }
            _ => Waits::Nothing,
        }
    }

    /// How many words stand before the verb: marks of who speaks, IMAP's tags, the service that is told.
    fn before_verb(&self, words: &[Range<usize>]) -> usize {
        let word = |at: usize| words.get(at).map_or("", |word| &self.text[word.clone()]);
        let bytes = word(0).as_bytes();
        let is_tag = words.len() > 2
            && bytes.len() <= 8
            && bytes[0].is_ascii_alphanumeric()
            && bytes.last().is_some_and(u8::is_ascii_digit)
            && matches!(word(1), "LOGIN" | "AUTHENTICATE" | "login" | "authenticate");
        match word(0).to_ascii_uppercase().as_str() {
            "C:" | ">" | ">>" | ">>>" | "NS" | "/NS" | "NICKSERV" | "/NICKSERV" | "QUOTE" => 1,
            "PRIVMSG" | "/MSG" | "/QUERY" if words.len() > 2 => 2,
            _ => usize::from(is_tag),
        }
    }

    /// A verb and its arguments.
    fn command(&mut self, words: &[Range<usize>], is_one: bool, waits: Waits) -> Waits {
        let Some((verb, rest)) = words.split_first() else { return waits };
        let verb = self.text[verb.clone()].trim_start_matches(':');
        let is_upper = verb.bytes().all(|c| c.is_ascii_uppercase());
        let is_told = verb.starts_with('/') || verb.contains('.');
        let verb = verb.rsplit(['/', '.']).next().unwrap_or_default();
        if !(is_upper || is_one) || verb.is_empty() || verb.len() > 12 {
            return waits;
        }
        let verb = verb.to_ascii_uppercase();
        let arguments: Vec<&str> = rest.iter().map(|word| &self.text[word.clone()]).collect();
        let Some(at) = secret_of(&verb, &arguments, is_told) else {
            return if is_upper {
                Waits::behind(&verb, &arguments).unwrap_or(waits)
            } else {
                waits
            };
        };
        let value = arguments[at];
        let look = Look::of(value);
        let is_mixed = value.len() >= 6
            && value.bytes().any(|c| c.is_ascii_digit())
            && value.bytes().any(|c| c.is_ascii_alphabetic());
        let is_word = look == Look::Plain
            && (value.bytes().all(|c| c.is_ascii_uppercase()) || value.contains('/'));
        if is_told || (is_upper && !is_word) || look >= Look::Opaque || is_mixed {
            let same = rest.iter().zip(&arguments).filter(|(_, argument)| **argument == value);
            let same: Vec<Range<usize>> = same.map(|(word, _)| word.clone()).collect();
            for word in same {
                let text = &self.text[word.clone()];
                let start = word.start + text.len() - text.trim_start_matches(':').len();
                self.judge(Weight::Secret, start..word.end);
            }
        }
        waits
    }
}

/// What the next lines of a protocol hold.
#[derive(Clone, Copy)]
enum Waits {
    Nothing,
    /// So many lines of base64.
    Answers(u8),
    /// Redis's arguments, each behind its length.
    Bulk,
}

impl Waits {
    /// What comes behind a verb without its secret.
    fn behind(verb: &str, arguments: &[&str]) -> Option<Self> {
        match (verb, arguments) {
            ("AUTH", []) => Some(Self::Bulk),
            ("AUTH" | "AUTHENTICATE", ["LOGIN"]) => Some(Self::Answers(2)),
            ("AUTH" | "AUTHENTICATE", [one]) if is_mechanism(one) => Some(Self::Answers(1)),
            _ => None,
        }
    }

    /// A server may say something between.
    fn after_other(self) -> Self {
        if matches!(self, Self::Bulk) { Self::Nothing } else { self }
    }
}

/// Which argument of a verb is its secret.
fn secret_of(verb: &str, arguments: &[&str], is_told: bool) -> Option<usize> {
    match (verb, arguments) {
        ("AUTH" | "AUTHENTICATE", [one]) => {
            (!is_mechanism(one) && !matches!(*one, "+" | "*")).then_some(0)
        }
        ("AUTH" | "AUTHENTICATE" | "IDENTIFY" | "OPER" | "APOP" | "LOGIN", [_, _]) => Some(1),
        ("PASS" | "PASSWORD" | "PASSWD" | "IDENTIFY", [_]) => Some(0),
        ("LOGIN" | "REGISTER", [_]) | ("REGISTER", [_, _]) if is_told => Some(0),
        ("JOIN", [channel, _]) if channel.starts_with(['#', '&']) => Some(1),
        ("HELLO", [_, auth, _, _, ..]) if auth.eq_ignore_ascii_case("AUTH") => Some(3),
        ("CONFIG", [set, name, _]) => {
            let is_secret =
                set.eq_ignore_ascii_case("SET") && name.to_ascii_lowercase().contains("pass");
            is_secret.then_some(2)
        }
        _ => None,
    }
}

/// Ways to say who one is (the registry of SASL).
fn is_mechanism(word: &str) -> bool {
    let word = word.to_ascii_uppercase();
    [
        "PLAIN",
        "LOGIN",
        "SCRAM-",
        "XOAUTH",
        "OAUTHBEARER",
        "DIGEST-MD5",
        "CRAM-MD5",
        "EXTERNAL",
        "NTLM",
        "GSSAPI",
        "ANONYMOUS",
    ]
    .iter()
    .any(|mechanism| word.starts_with(mechanism))
}

/// A word of a sentence, and what stands behind it.
struct Said {
    range: Range<usize>,
    /// A comma, the end of a sentence, and a colon part more or less.
    mark: Mark,
    /// Whether it is in parentheses.
    is_aside: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    Nothing,
    Line,
    Colon,
    End,
}

/// Words that say that the next one is it.
const IS: [&str; 16] = [
    "is", "was", "are", "lautet", "ist", "es", "est", "è", "é", "to", "be", "equals", "jest", "är",
    "er", "now",
];
/// Words that may stand between a name and its value.
const BETWEEN: [&str; 20] = [
    "for", "the", "a", "set", "changed", "with", "equal", "has", "been", "of", "new", "your",
    "für", "pour", "para", "per", "value", "using", "as", "this",
];
/// What tells about a secret, and ends what its name says.
const APART: [&str; 20] = [
    "expired", "mismatch", "reset", "request", "failed", "missing", "length", "id", "type",
    "endpoint", "policy", "not", "and", "or", "by", "from", "in", "at", "must", "error",
];
/// Words of letters and digits that are no passwords.
const TERMS: [&str; 22] = [
    "sha", "oauth", "base64", "base32", "argon", "pbkdf", "utf", "hs256", "rs256", "es256", "md5",
    "bcrypt", "ed25519", "x25519", "rsa", "aes", "web3", "ipv", "html5", "http", "oidc", "level",
];
/// So many words before a value may hold its name.
const MAX_BACK: usize = 6;

impl Search<'_, '_> {
    /// `The password is x`.
    fn sentences(&mut self) {
        let mut said: VecDeque<Said> = VecDeque::with_capacity(MAX_BACK + 1);
        let mut letters = self.text.char_indices().peekable();
        let (mut start, mut skip, mut is_aside, mut told) = (None, 0, false, None);
        while let Some((at, c)) = letters.next() {
            let next = letters.peek().map_or(self.text.len(), |(next, _)| *next);
            if at < skip {
                continue;
            }
            let is_end = ends_word(c);
            if !is_end && start.is_none() {
                start = Some(at);
            }
            let end = if is_end { at } else { next };
            if (is_end || next == self.text.len())
                && let Some(start) = start.take()
            {
                self.word(start..end, is_aside, &mut said);
                self.say_before(start..end, &mut told);
            }
            match c {
                '(' => is_aside = true,
                ')' => is_aside = false,
                '<' => skip = end_of_tag(self.bytes, at),
                ',' | ';' | '，' | '。' | '、' | '|' => {
                    mark(&mut said, Mark::End);
                    told = None;
                }
                '：' => mark(&mut said, Mark::Colon),
                '\n' => mark(&mut said, Mark::Line),
                _ => {}
            }
        }
    }

    fn word(&mut self, range: Range<usize>, is_aside: bool, said: &mut VecDeque<Said>) {
        let word = &self.text[range.clone()];
        let bare = word.trim_end_matches(['.', ':', '!', '?', '…']);
        let end = range.start + bare.len();
        if !said.is_empty() && is_candidate(bare) {
            self.judge_word(range.start..end, is_aside, said);
        }
        let tail =
            &self.text[range.start + bare.trim_end_matches(['=', '>', '-', '→']).len()..range.end];
        let behind = match tail {
            _ if tail.contains([':', '=', '>', '→']) => Mark::Colon,
            _ if tail.contains(['.', '?', '…']) => Mark::End,
            _ => Mark::Nothing,
        };
        let name = range.start..range.end - tail.len();
        if name.is_empty() {
            mark(said, behind);
            return;
        }
        said.push_back(Said { range: name, mark: behind, is_aside });
        if said.len() > MAX_BACK {
            said.pop_front();
        }
    }

    /// `123456 is your code`, `use x as the password`: the value comes first.
    fn say_before(&mut self, range: Range<usize>, told: &mut Option<Told>) {
        let word = self.text[range.clone()].trim_end_matches(['.', '!', '?', ':']);
        let lower = word.to_lowercase();
        let is_verb = matches!(lower.as_str(), "is" | "as" | "ist" | "est");
        let Some(before) = told.as_mut().filter(|before| before.words > 0 || is_verb) else {
            let is_strong = word.len() >= 8 && Look::of(word) >= Look::Opaque;
            let range = range.start..range.start + word.len();
            *told =
                (is_strong || is_number(word)).then_some(Told { range, words: 0, is_yours: false });
            return;
        };
        before.words += 1;
        before.is_yours |= matches!(lower.as_str(), "your" | "ihr" | "dein" | "votre");
        let least = if before.is_yours { Weight::Telling } else { Weight::Secret };
        if before.words > 1 && self.work.weigh(word) >= least {
            let range = before.range.clone();
            // What is told to be one is one, also if it is a number.
            if !is_number(&self.text[range.clone()]) || before.is_yours {
                self.judge(Weight::Secret, range);
            }
            *told = None;
        } else if before.words > 6 || word.len() < range.len() {
            *told = None;
        }
    }

    fn judge_word(&mut self, range: Range<usize>, is_aside: bool, said: &VecDeque<Said>) {
        let value = &self.text[range.clone()];
        let is_strong = value.len() >= 8 && Look::of(value) >= Look::Opaque;
        if !is_strong && !is_mixed(value) && !is_number(value) {
            return;
        }
        let Some(named) = self.name_before(said, is_aside) else { return };
        let is_near = !named.is_far && (named.is_said || !named.is_on_other_line);
        let hides = match named.weight {
            Weight::Secret if is_strong => true,
            Weight::Secret if is_number(value) => is_near && named.is_said,
            Weight::Secret => is_near,
            _ => is_strong && is_near,
        };
        if hides {
            self.judge(named.weight, range);
        }
    }

    /// The name in the words before, and how it stands to what comes behind them.
    fn name_before(&mut self, said: &VecDeque<Said>, is_aside: bool) -> Option<Named> {
        let mut named =
            Named { weight: Weight::Plain, is_far: false, is_said: false, is_on_other_line: false };
        let mut others = 0;
        // `login failed for al / x`: only the name of a pair of a user and a secret counts.
        let is_behind_user = said.back().is_some_and(|last| &self.text[last.range.clone()] == "/");
        if is_behind_user {
            let mut words =
                said.iter().map(|before| self.text[before.range.clone()].to_lowercase());
            let is_pair = words.any(|word| {
                let pairs = ["login", "credentials", "creds", "user", "password", "signin", "auth"];
                pairs.contains(&word.as_str())
            });
            named.weight = if is_pair { Weight::Telling } else { Weight::Plain };
            return is_pair.then_some(named);
        }
        for (at, before) in said.iter().enumerate().rev() {
            if before.is_aside && !is_aside {
                continue;
            }
            match before.mark {
                Mark::End => return None,
                Mark::Colon => named.is_said = true,
                // Over a line's end only the next word belongs to a name.
                Mark::Line if named.is_far || named.is_on_other_line => return None,
                Mark::Line => named.is_on_other_line = true,
                Mark::Nothing => {}
            }
            let word = &self.text[before.range.clone()];
            let lower = word.to_lowercase();
            if IS.contains(&lower.as_str()) {
                named.is_said = true;
                continue;
            }
            if APART.contains(&lower.as_str()) {
                return None;
            }
            if !BETWEEN.contains(&lower.as_str()) {
                named.weight = self.work.weigh(word);
                // A name may be of two words, or three.
                for first in said.range(..at).rev().take(2) {
                    let name = &self.text[first.range.start..before.range.end];
                    if first.mark != Mark::Nothing
                        || named.weight == Weight::Secret
                        || name.len() > 64
                    {
                        break;
                    }
                    named.weight = named.weight.max(self.work.weigh(name));
                }
                if named.weight > Weight::Plain {
                    return Some(named);
                }
                others += 1;
                if others > 1 {
                    return None;
                }
            }
            named.is_far = true;
        }
        None
    }
}

/// A value whose name may come behind it.
struct Told {
    range: Range<usize>,
    /// How many words came since.
    words: u8,
    /// Whether one of them says that it is for the reader.
    is_yours: bool,
}

struct Named {
    weight: Weight,
    /// Whether other words stand between.
    is_far: bool,
    /// Whether a colon or a word says that the value is it.
    is_said: bool,
    is_on_other_line: bool,
}

fn mark(said: &mut VecDeque<Said>, mark: Mark) {
    if let Some(last) = said.back_mut() {
        last.mark = last.mark.max(mark);
    }
}

fn ends_word(c: char) -> bool {
    match c {
        '"' | '\'' | '`' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | ',' | ';' | '|'
        | '\0' => true,
        c if c.is_ascii() => c.is_ascii_whitespace(),
        c => c.is_whitespace() || "“”„‘’«»‹›，。、：│".contains(c),
    }
}

/// Whether a word may be a value at all: cheap, for most are none.
fn is_candidate(word: &str) -> bool {
    let is_pair = word.trim_end_matches('=').contains('=') || word.contains("://");
    !is_pair && word.len() >= 4 && (word.len() >= 8 || word.bytes().any(|c| c.is_ascii_digit()))
}

fn is_number(value: &str) -> bool {
    (4..=8).contains(&value.len()) && value.bytes().all(|c| c.is_ascii_digit())
}

/// `Summer2024`; no term, no count with its unit, no path.
fn is_mixed(value: &str) -> bool {
    let bytes = value.as_bytes();
    let letters = bytes.iter().filter(|c| c.is_ascii_alphabetic()).count();
    let has_digit = bytes.iter().any(u8::is_ascii_digit);
    let lower = value.to_ascii_lowercase();
    let is_unit = bytes.iter().skip_while(|c| c.is_ascii_digit()).all(u8::is_ascii_alphabetic)
        && bytes.first().is_some_and(u8::is_ascii_digit);
    // `INV-2024`.
    let is_count = value.split_once(['-', '#', '_']).is_some_and(|(word, number)| {
        word.bytes().all(|c| c.is_ascii_uppercase()) && number.bytes().all(|c| c.is_ascii_digit())
    });
    (6..=128).contains(&bytes.len())
        && !is_count
        && letters >= 2
        && has_digit
        && !is_unit
        && bytes.iter().all(u8::is_ascii_graphic)
        && !value.contains(['/', '\\', '='])
        && !TERMS.iter().any(|term| lower.starts_with(term))
}

/// Behind the tag that begins here; at the next character if none does.
fn end_of_tag(bytes: &[u8], at: usize) -> usize {
    let is_tag = bytes.get(at + 1).is_some_and(|c| c.is_ascii_alphabetic() || *c == b'/');
    let near = &bytes[at..bytes.len().min(at + 512)];
    let end = near.iter().skip(1).position(|c| matches!(c, b'<' | b'>')).map_or(0, |end| end + 1);
    if is_tag && near[end] == b'>' { at + end + 1 } else { at }
}

/// The words of a command, without the quotes around them.
struct Arguments<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Arguments<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        // A line that ends with a backslash goes on.
        while let Some(c) = bytes.get(self.at) {
            match c {
                b' ' | b'\t' => self.at += 1,
                b'\\' if bytes[self.at + 1..].starts_with(b"\n") => self.at += 2,
                b'\\' if bytes[self.at + 1..].starts_with(b"\r\n") => self.at += 3,
                _ => break,
            }
        }
        let first = *bytes.get(self.at)?;
        if is_quote(first) {
            let quoted = quoted_at(self.text, self.at)?;
            self.at = (quoted.end + 1).min(bytes.len());
            return Some(quoted.range);
        }
        let start = self.at;
        let length = count(bytes, start, |c| !c.is_ascii_whitespace() && !b";|&)`".contains(&c));
        self.at = start + length;
        let word = self.text[start..self.at].trim_end_matches(['"', '\'', ',', ']']);
        (length > 0 && !word.is_empty()).then_some(start..start + word.len())
    }
}

/// Words between blanks and ends of lines.
struct Words<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Words<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        let start = self.at + count(bytes, self.at, |c| c.is_ascii_whitespace());
        let end = start + count(bytes, start, |c| !c.is_ascii_whitespace());
        self.at = end;
        (start < end).then_some(start..end)
    }
}

/// A text in quotes.
struct Quoted {
    range: Range<usize>,
    /// Where the quote stands that ends it, or the end of the text.
    end: usize,
    is_arrow: bool,
    /// Whether another one follows.
    is_listed: bool,
}

fn is_quote(c: u8) -> bool {
    matches!(c, b'"' | b'\'' | b'`')
}

/// The text in quotes that begins here, perhaps with the quotes escaped.
fn quoted_at(text: &str, at: usize) -> Option<Quoted> {
    let bytes = text.as_bytes();
    let at = at + count(bytes, at, |c| c == b' ');
    let escapes = count(bytes, at, |c| c == b'\\');
    let quote = *bytes.get(at + escapes).filter(|c| is_quote(**c))?;
    let start = at + escapes + 1;
    let mut end = start;
    while end < bytes.len() && bytes[end] != quote {
        end += if bytes[end] == b'\\' && escapes == 0 { 2 } else { 1 };
    }
    let end = end.min(bytes.len());
    let inner = text.get(start..end)?;
    let inner = if escapes > 0 { inner.trim_end_matches('\\') } else { inner };
    Some(Quoted { range: start..start + inner.len(), end, is_arrow: false, is_listed: false })
}

/// The text in quotes behind the quote here and a comma or an arrow.
fn behind_comma(text: &str, quote: usize) -> Option<Quoted> {
    let bytes = text.as_bytes();
    let blanks = |at: usize| at + count(bytes, at, |c| c.is_ascii_whitespace());
    let at = blanks(quote + 1);
    let (length, is_arrow) = match bytes.get(at)? {
        b',' => (1, false),
        b'=' if bytes.get(at + 1) == Some(&b'>') => (2, true),
        // PHP writes `s:8:"password";s:16:"x"`.
        b';' if bytes[at..].starts_with(b";s:") => {
            (4 + count(bytes, at + 3, |c| c.is_ascii_digit()), true)
        }
        _ => return None,
    };
    let value = quoted_at(text, blanks(at + length))?;
    let behind = blanks(value.end + 1);
    let is_listed = !is_arrow
        && bytes.get(behind) == Some(&b',')
        && bytes.get(blanks(behind + 1)).is_some_and(|c| is_quote(*c));
    Some(Quoted { is_arrow, is_listed, ..value })
}

/// The name in quotes that ends with the quote here.
fn quoted_before(text: &str, quote: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let start = quote.saturating_sub(64);
    let open = bytes[start..quote].iter().rposition(|c| *c == bytes[quote])? + start + 1;
    let name = text.get(open..quote)?.trim_end_matches('\\');
    let is_name = |c: char| c.is_alphanumeric() || " _-.:$~".contains(c);
    (name.len() >= 2 && name.chars().all(is_name)).then_some(open..open + name.len())
}

/// Whether another text in quotes and a comma stand before this name.
fn is_behind_string(bytes: &[u8], name: usize) -> bool {
    let before = bytes[name.saturating_sub(16)..name].trim_ascii_end();
    let before = before.split_last().map_or(before, |(_, before)| before);
    let before = before.strip_suffix(b"\\").unwrap_or(before).trim_ascii_end();
    let comma = before.strip_suffix(b",").map(<[u8]>::trim_ascii_end);
    comma.and_then(<[u8]>::last).is_some_and(|c| is_quote(*c))
}

/// The name of the function whose parentheses stand before this place.
fn call_before(text: &str, at: usize) -> &str {
    let bytes = &text.as_bytes()[..at];
    let is_call = |c: &u8| is_in_name(*c);
    let Some(open) = bytes.iter().rev().take(8).position(|c| *c == b'(') else { return "" };
    let end = at - open - 1;
    let length = bytes[..end].iter().rev().take(64).take_while(|c| is_call(c)).count();
    text.get(end - length..end).unwrap_or_default()
}

fn is_in_name(c: u8) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'$')
}

/// The quote that ends a text of SQL; two of them are one within it, and so is one behind a backslash.
fn end_of_sql(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            c if c == bytes[open] && bytes.get(at + 1) == Some(&c) => at += 1,
            c if c == bytes[open] => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

fn count(bytes: &[u8], from: usize, fits: impl Fn(u8) -> bool) -> usize {
    bytes.get(from..).unwrap_or_default().iter().take_while(|c| fits(**c)).count()
}

fn position(bytes: &[u8], from: usize, fits: impl Fn(u8) -> bool) -> Option<usize> {
    bytes.get(from..)?.iter().position(|c| fits(*c)).map(|at| from + at)
}

/// The next place of small letters in a text of any case.
fn find_folded(bytes: &[u8], word: &str, from: usize) -> Option<usize> {
    let (word, first) = (word.as_bytes(), word.as_bytes()[0]);
    let fits =
        |window: &[u8]| window[0].eq_ignore_ascii_case(&first) && window.eq_ignore_ascii_case(word);
    bytes.get(from..)?.windows(word.len()).position(fits).map(|at| from + at)
}
