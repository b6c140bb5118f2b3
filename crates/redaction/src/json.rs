//! JSON, whole or cut off: values under names of secrets, at any depth.
//!
//! The one idea: a scanner, no parser. It goes through the text once, knows for each open object and list
//! what it says of its values, and changes nothing but the values it hides; so order, spaces and numbers
//! stay as they were, and a body that ends in the middle, or several in a row, do no harm.

use crate::HIDDEN;
use crate::kind::Kind;
use crate::names::{Weight, is_named_beside, names_another};
use crate::work::Work;
use std::borrow::Cow;

/// How deep it looks; what is deeper is hidden.
const MAX_DEPTH: usize = 128;
/// The longest text that may be a name, in bytes.
const MAX_NAME: usize = 64;
/// Names of what is done, and what it is done with: `{"method": "login", "params": ["ada", "…"]}`.
const DOING: [&str; 10] =
    ["method", "msg", "cmd", "command", "op", "action", "event", "type", "procedure", "target"];
const DONE_WITH: [&str; 7] = ["params", "args", "arguments", "payload", "d", "data", "stringdata"];

/// The private members of a key (RFC 7518, section 6).
const PRIVATE: [&str; 7] = ["d", "p", "q", "dp", "dq", "qi", "k"];
/// Members that say that the value beside them is a secret.
const SAYS_SO: [&str; 6] = ["sensitive", "secret", "issecret", "is_secret", "masked", "encrypted"];

/// Whether a text begins as JSON does: `{token: "…"}` and `{{name}}` do not.
pub(crate) fn begins(text: &str) -> bool {
    let mut letters = text.chars();
    let first = letters.next();
    let next = letters.find(|c| !c.is_whitespace() && *c != '\0');
    match (first, next) {
        (Some('{' | '['), None) => true,
        (Some('{'), Some(next)) => matches!(next, '"' | '\'' | '}' | '/' | '\\'),
        (Some('['), Some(next)) => {
            matches!(
                next,
                '"' | '\'' | '{' | '[' | ']' | '-' | '0'..='9' | '/' | '\\' | 't' | 'f' | 'n'
            )
        }
        _ => false,
    }
}

/// The JSON without its secrets. JSON stays JSON; texts in it are of this kind.
pub(crate) fn redact(work: &mut Work<'_>, json: &str, kind: Kind) -> String {
    let bound = bound_variables(work, json);
    let out = String::with_capacity(json.len());
    let open = vec![Frame::default()];
    let is_key = json.contains("\"kty\"");
    let mut scan = Scan { work, json, kind, at: 0, out, open, bound, is_key };
    while scan.step() {}
    scan.out
}

struct Scan<'a, 'w> {
    work: &'a mut Work<'w>,
    json: &'a str,
    kind: Kind,
    at: usize,
    out: String,
    open: Vec<Frame>,
    /// Variables of a GraphQL query that stand for arguments with names of secrets.
    bound: Vec<(&'a str, Weight)>,
    /// Whether there are keys in it, as RFC 7517 writes them.
    is_key: bool,
}

/// An open object or list, or what stands around all of them.
#[derive(Default)]
struct Frame {
    is_object: bool,
    /// What all of it is.
    weight: Option<Weight>,
    /// The name whose value comes next; none before a name, and in a list.
    name: Option<String>,
    /// What a field of it named.
    named: Option<Weight>,
    /// What a field of it does: values it is done with weigh.
    does: Option<Weight>,
    /// Where in the output a value stands that came before the name of it.
    before: Option<(usize, usize)>,
    /// In a list: how many values came, and what the last one says of the next.
    count: usize,
    next: Option<Weight>,
}

impl Scan<'_, '_> {
    fn step(&mut self) -> bool {
        let Some(c) = self.json.as_bytes().get(self.at).copied() else { return false };
        match c {
            b'{' | b'[' => self.open(c == b'{'),
            b'}' | b']' => self.close(),
            b',' => {
                let top = self.top();
                (top.name, top.count) = (None, top.count + 1);
                self.copy(1);
            }
            b'"' => self.string(),
            b'-' | b'0'..=b'9' => self.number(),
            _ => self.other(),
        }
        true
    }

    fn top(&mut self) -> &mut Frame {
        if self.open.is_empty() {
            self.open.push(Frame::default());
        }
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    fn copy(&mut self, length: usize) {
        self.out.push_str(&self.json[self.at..self.at + length]);
        self.at += length;
    }

    fn open(&mut self, is_object: bool) {
        let is_too_deep = self.open.len() > MAX_DEPTH;
        let weight = if is_too_deep { Weight::Secret } else { self.weight() };
        // Of an object under a telling name each name speaks for itself; a list has no other one.
        let is_all = weight == Weight::Secret || self.is_done_with() || !is_object;
        let all = is_all.then_some(weight);
        self.open.push(Frame { is_object, weight: all, ..Frame::default() });
        self.copy(1);
    }

    fn close(&mut self) {
        if self.open.len() > 1 {
            self.open.pop();
        }
        self.copy(1);
    }

    fn is_done_with(&mut self) -> bool {
        let top = self.top();
        top.does.is_some() && top.name.as_deref().is_some_and(is_done_with)
    }

    /// What is said of the value that comes now.
    fn weight(&mut self) -> Weight {
        let is_done_with = self.is_done_with();
        let top = self.top();
        let mut weight = top.weight.unwrap_or(Weight::Plain);
        if is_done_with {
            weight = weight.max(top.does.unwrap_or(Weight::Plain));
        }
        if let Some(next) = top.next.take() {
            weight = weight.max(next);
        }
        let Some(name) = top.name.take() else { return weight };
        if is_named_beside(&name) {
            weight = weight.max(top.named.unwrap_or(Weight::Plain));
        }
        if self.is_key && PRIVATE.contains(&name.as_str()) {
            weight = Weight::Secret;
        }
        let bound = self.bound.iter().find(|(variable, _)| *variable == name);
        weight = weight.max(bound.map_or(Weight::Plain, |(_, weight)| *weight));
        // Paths name what is done, as in documents of OpenAPI.
        if !name.starts_with('/') {
            weight = weight.max(self.work.weigh(&name));
        }
        self.top().name = Some(name);
        weight
    }

    fn string(&mut self) {
        let start = self.at + 1;
        let end = end_of_string(self.json.as_bytes(), start);
        let content = &self.json[start..end];
        let is_whole = end < self.json.len();
        // A list has names only where it is none.
        let top = self.top();
        let is_name = top.name.is_none() && (top.is_object || is_followed_by_colon(self.json, end));
        self.out.push('"');
        let from = self.out.len();
        if is_name {
            // What is escaped once too often looks like one long name.
            let is_text = content.contains("\\\"") && content.contains(':');
            let kind = if is_text { Kind::Data } else { Kind::Name };
            let shown = self.work.text(content, kind).into_owned();
            self.out.push_str(&shown);
            self.top().name = Some(unescaped(content).into_owned());
        } else {
            let shown = self.shown(content, end);
            self.out.push_str(&shown);
            let to = self.out.len();
            self.note_before(from, to);
        }
        if is_whole {
            self.out.push('"');
        }
        self.at = end + usize::from(is_whole);
    }

    /// Remembers where a value stands whose name may come behind it.
    fn note_before(&mut self, from: usize, to: usize) {
        let top = self.top();
        let is_one = |name: &str| is_named_beside(name) || is_done_with(name);
        if top.named.is_none() && top.name.as_deref().is_some_and(is_one) {
            top.before = Some((from, to));
        }
    }

    fn shown<'t>(&mut self, content: &'t str, end: usize) -> Cow<'t, str> {
        let plain = unescaped(content);
        let weight = self.weight();
        // What has a name that says nothing is looked at as any text is.
        if weight > Weight::Plain && self.work.hides(weight, &plain) {
            return HIDDEN.into();
        }
        self.learn(&plain, end);
        let shown = self.work.value_among(&plain, self.kind);
        if *shown == *plain { content.into() } else { escaped(&shown).into() }
    }

    /// What this value says of others.
    fn learn(&mut self, plain: &str, end: usize) {
        if plain.len() > MAX_NAME || plain.is_empty() {
            return;
        }
        let Some(name) = self.top().name.clone() else {
            let is_list = self.open.len() > 1 && !self.top().is_object;
            match self.work.weigh(plain) {
                Weight::Secret if is_list => self.top().next = self.weight_behind(end),
                // `["login", "ada", "…"]`: an event and what it brings.
                Weight::Telling if is_list && self.top().count == 0 => {
                    self.top().weight = Some(Weight::Telling);
                }
                _ => {}
            }
            return;
        };
        let is_naming = names_another(&name);
        let is_doing = DOING.contains(&name.to_ascii_lowercase().as_str());
        if !is_naming && !is_doing && name != "kind" {
            return;
        }
        let weight = self.work.weigh(plain);
        if weight == Weight::Plain {
            return;
        }
        if is_naming {
            self.name_beside(weight);
        }
        if is_doing {
            self.top().does = Some(weight.min(Weight::Telling));
            self.hide_before(weight.min(Weight::Telling));
        }
        if name == "kind" && plain == "Secret" {
            self.top().does = Some(Weight::Secret);
        }
    }

    /// `"sensitive": true`.
    fn note_says_so(&mut self) {
        let is_one = |name: &String| SAYS_SO.contains(&name.to_ascii_lowercase().as_str());
        if self.top().name.as_ref().is_some_and(is_one) {
            self.name_beside(Weight::Secret);
        }
    }

    /// The value beside has this weight, also when it came before.
    fn name_beside(&mut self, weight: Weight) {
        self.top().named = Some(weight);
        self.hide_before(weight);
    }

    fn hide_before(&mut self, weight: Weight) {
        let before = self.top().before.take();
        if let Some((from, to)) = before.filter(|(_, to)| *to <= self.out.len()) {
            let value = unescaped(&self.out[from..to]).into_owned();
            if self.work.hides(weight, &value) {
                self.out.replace_range(from..to, HIDDEN);
            }
        }
    }

    /// In a list, what a name of a secret says of the value behind it: all of it where the list is a pair,
    /// and that it may be one where more names may follow.
    fn weight_behind(&mut self, end: usize) -> Option<Weight> {
        let bytes = self.json.as_bytes();
        let skip = |mut at: usize| {
            while bytes.get(at).is_some_and(|c| c.is_ascii_whitespace() || *c == b',') {
                at += 1;
            }
            at
        };
        let next = skip(end + 1);
        if bytes.get(next) != Some(&b'"') {
            return Some(Weight::Telling);
        }
        let last = end_of_string(bytes, next + 1);
        let value = &self.json[next + 1..last];
        if value.len() <= MAX_NAME && self.work.weigh(value) == Weight::Secret {
            return None;
        }
        let is_pair =
            self.top().count == 0 && matches!(bytes.get(skip(last + 1)), Some(b']') | None);
        Some(if is_pair { Weight::Secret } else { Weight::Telling })
    }

    fn number(&mut self) {
        let is_part = |c: &u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'+' | b'.');
        let rest = &self.json.as_bytes()[self.at..];
        let length = rest.iter().take_while(|c| is_part(c)).count();
        let number = &self.json[self.at..self.at + length];
        let weight = self.weight();
        let is_card = weight == Weight::Telling && is_card_number(number);
        if is_card || (weight == Weight::Secret && self.work.hides(weight, number)) {
            self.out.push('"');
            self.out.push_str(HIDDEN);
            self.out.push('"');
            self.at += length;
        } else {
            self.copy(length);
        }
    }

    /// Spaces, colons, `true`, and what is no JSON.
    fn other(&mut self) {
        let ends = |c: &u8| b"{}[],\"".contains(c);
        let rest = &self.json.as_bytes()[self.at..];
        let is_space = |c: &u8| c.is_ascii_whitespace() || *c == b':';
        let spaces = rest.iter().take_while(|c| is_space(c)).count();
        if spaces > 0 {
            return self.copy(spaces);
        }
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        let words = &self.json[self.at..self.at + length];
        if self.top().is_object
            && self.top().name.is_none()
            && let Some(name) = bare_name(words)
        {
            self.top().name = Some(name.to_owned());
            return self.copy(name.len());
        }
        let is_word = matches!(words.trim_end(), "true" | "false" | "null");
        if is_word {
            if words.starts_with("true") {
                self.note_says_so();
            }
            return self.copy(length);
        }
        let weight = self.weight();
        if weight > Weight::Plain && self.work.hides(weight, words) {
            self.out.push_str(HIDDEN);
        } else {
            let shown = self.work.text(words, self.kind);
            self.out.push_str(&shown);
        }
        self.at += length;
    }
}

/// The name with which words begin, when it has no quotes: `password: `, as scripts write objects.
fn bare_name(words: &str) -> Option<&str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.');
    let end = words.find(|c| !is_part(c))?;
    let is_name = end > 0 && words[end..].trim_start().starts_with(':');
    is_name.then_some(&words[..end])
}

fn is_done_with(name: &str) -> bool {
    DONE_WITH.iter().any(|one| name.eq_ignore_ascii_case(one))
}

/// Arguments of a GraphQL query that are given by variables: `login(password: $p)`.
fn bound_variables<'a>(work: &mut Work<'_>, json: &'a str) -> Vec<(&'a str, Weight)> {
    if !json.contains("\"variables\"") {
        return Vec::new();
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut bound = Vec::new();
    for (at, _) in json.match_indices('$').take(256) {
        let before = json[..at].trim_end();
        let Some(before) = before.strip_suffix(':') else { continue };
        let before = before.trim_end();
        let start = before.rfind(|c| !is_name(c)).map_or(0, |at| at + 1);
        let weight = work.weigh(before.get(start..).unwrap_or_default());
        let rest = &json[at + 1..];
        let variable = &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())];
        if weight > Weight::Plain && !variable.is_empty() {
            bound.push((variable, weight));
        }
    }
    bound
}

/// Numbers of payment cards have 13 to 19 digits and a check digit (ISO/IEC 7812-1, Luhn).
fn is_card_number(number: &str) -> bool {
    let digits = number.bytes().filter(u8::is_ascii_digit).map(|c| u32::from(c - b'0'));
    let sum = digits.clone().rev().enumerate().map(|(at, digit)| match (at % 2, digit * 2) {
        (0, _) => digit,
        (_, double) => double / 10 + double % 10,
    });
    (13..=19).contains(&digits.count()) && sum.sum::<u32>().is_multiple_of(10)
}

/// The quote that ends a string, or the end of the text.
fn end_of_string(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(c) = bytes.get(at) {
        match c {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn is_followed_by_colon(json: &str, end: usize) -> bool {
    let mut behind = json.bytes().skip(end + 1).take(256);
    behind.find(|c| !c.is_ascii_whitespace()) == Some(b':')
}

/// The text that a string of JSON stands for (RFC 8259, section 7). What is no escape stays.
fn unescaped(content: &str) -> Cow<'_, str> {
    if !content.contains('\\') {
        return content.into();
    }
    let mut out = String::with_capacity(content.len());
    let mut rest = content;
    while let Some((before, behind)) = rest.split_once('\\') {
        out.push_str(before);
        let mut letters = behind.chars();
        let letter = letters.next();
        rest = letters.as_str();
        match letter {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('u') => rest = unescape_unit(rest, &mut out),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out.push_str(rest);
    out.into()
}

/// `\u00e9`, and two of them for what is beyond the basic plane.
fn unescape_unit<'a>(rest: &'a str, out: &mut String) -> &'a str {
    let unit = |text: &str| text.get(..4).and_then(|hex| u16::from_str_radix(hex, 16).ok());
    let Some(first) = unit(rest) else {
        out.push_str("\\u");
        return rest;
    };
    let behind = &rest[4..];
    let second = behind.strip_prefix("\\u").and_then(unit);
    let both = [Some(first), second];
    let mut letters = char::decode_utf16(both.into_iter().flatten());
    if let Some(Ok(letter)) = letters.next() {
        out.push(letter);
        if letter.len_utf16() == 2 { &behind[6..] } else { behind }
    } else {
        out.push(char::REPLACEMENT_CHARACTER);
        behind
    }
}

/// The text as it stands within a string of JSON.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if u32::from(c) < 0x20 => {
                out.push_str("\\u00");
                let hex = |digit: u32| char::from_digit(digit, 16).unwrap_or('0');
                out.extend([hex(u32::from(c) >> 4), hex(u32::from(c) & 15)]);
            }
            c => out.push(c),
        }
    }
    out
}
