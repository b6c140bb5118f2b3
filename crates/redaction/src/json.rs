//! JSON, whole or cut off: values under names of secrets, at any depth.
//!
//! The one idea: a scanner, no parser. It goes through the text once, knows for each open object and list
//! what it says of its values, and changes nothing but the values it hides; so order, spaces and numbers
//! stay as they were, and a body that ends in the middle, or several in a row, do no harm.

use crate::HIDDEN;
use crate::document::Document;
use crate::escapes::{escaped, unescaped};
use crate::kind::Kind;
use crate::look::Look;
use crate::names::{Weight, is_named_beside, names_another};
use crate::work::Work;
use std::borrow::Cow;

/// How deep it looks; what is deeper is hidden.
const MAX_DEPTH: usize = 128;
/// The longest text that may be a name, in bytes.
const MAX_NAME: usize = 64;
/// The same of a path.
const MAX_PATH: usize = 320;
/// Names of what is done, and what it is done with: `{"method": "login", "params": ["ada", "…"]}`.
const DOING: [&str; 10] =
    ["method", "msg", "cmd", "command", "op", "action", "event", "type", "procedure", "target"];
const DONE_WITH: [&str; 7] = ["params", "args", "arguments", "payload", "d", "data", "stringdata"];

/// Names of the attributes of an element, in dumps of pages.
const ATTRIBUTES: [&str; 4] = ["attrs", "attributes", "props", "properties"];
/// Names of lists that say where a value was given.
const SELECTORS: [&str; 4] = ["selectors", "selector", "targets", "locators"];
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
    let document = Document::of(work, json);
    let out = String::with_capacity(json.len());
    let open = vec![Frame::default()];
    let mut scan = Scan { work, json, kind, at: 0, out, open, document };
    while scan.step() {}
    scan.out
}

pub(crate) struct Scan<'a, 'w> {
    pub(crate) work: &'a mut Work<'w>,
    json: &'a str,
    kind: Kind,
    at: usize,
    out: String,
    pub(crate) open: Vec<Frame>,
    document: Document<'a>,
}

/// An open object or list, or what stands around all of them.
#[derive(Default)]
pub(crate) struct Frame {
    pub(crate) is_object: bool,
    /// What all of it is.
    weight: Option<Weight>,
    /// The name whose value comes next; none before a name, and in a list.
    pub(crate) name: Option<String>,
    /// What a field of it named.
    named: Option<Weight>,
    /// What a field of it does: values it is done with weigh.
    does: Option<Weight>,
    /// Where in the output a value stands that came before the name of it.
    before: Option<(usize, usize)>,
    /// In a list: how many values came, and what the last one says of the next.
    pub(crate) count: usize,
    next: Option<Weight>,
    /// Whether its names are secrets where they look like some: `{"sessions": {"…": {}}}`.
    is_keyed: bool,
    /// What the columns weigh whose rows stand beside them, or in it.
    pub(crate) columns: Vec<Weight>,
    /// In a list of lists: how many texts the first one has, and whether they are the names of columns.
    pub(crate) heads: usize,
    pub(crate) is_table: bool,
    /// In a list: the numbers of those of its values that are secrets, as an object in it said.
    pub(crate) referred: Vec<usize>,
}

impl Frame {
    /// Whether it is an object, and what comes now stands under one of these names.
    pub(crate) fn is_under(&self, names: &[&str]) -> bool {
        self.is_object && self.name.as_deref().is_some_and(|name| names.contains(&name))
    }
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

    pub(crate) fn top(&mut self) -> &mut Frame {
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
        let name = self.top().name.clone().unwrap_or_default();
        let is_all = weight == Weight::Secret || self.is_done_with() || !is_object;
        let all = is_all.then_some(weight);
        let is_keyed = is_object && self.is_keyed(&name);
        self.open.push(Frame { is_object, weight: all, is_keyed, ..Frame::default() });
        self.copy(1);
    }

    fn close(&mut self) {
        if self.open.len() > 1
            && let Some(row) = self.open.pop()
        {
            let around = self.top();
            if !row.is_object && around.count == 0 {
                around.is_table = row.count >= 2 && around.heads == row.count + 1;
            }
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
        let Some(name) = top.name.take() else { return weight.max(self.column_above()) };
        if is_named_beside(&name) {
            weight = weight.max(top.named.unwrap_or(Weight::Plain));
        }
        let above = self.open.iter().rev().nth(1).and_then(|frame| frame.name.as_deref());
        // `"git-oauth": {"git.example": "…"}`: a host says nothing, what stands around it does.
        if let Some(above) = above.filter(|_| is_host(&name)) {
            weight = weight.max(self.work.weigh(above));
        }
        weight = weight.max(self.document.weigh(&name, above));
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
            let is_secret = self.top().is_keyed
                && Look::of(content) >= Look::Opaque
                && self.work.hides(Weight::Telling, content);
            let shown =
                if is_secret { HIDDEN.into() } else { self.work.text(content, kind).into_owned() };
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
        let is_long = plain.len() > MAX_NAME && !is_path_of_secret(plain);
        if is_long || plain.is_empty() {
            return;
        }
        self.learn_column(plain);
        let Some(name) = self.top().name.clone() else {
            self.learn_selector(plain);
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
        // What is called so has its credentials before its arguments (`ubus`, Odoo).
        if is_doing && plain == "call" {
            self.top().does = Some(Weight::Telling);
        }
        let weight = self.work.weigh(plain);
        if weight == Weight::Plain {
            return;
        }
        if is_naming {
            self.name_beside(weight);
            // Managers of secrets give the value beside the secret's path.
            if is_path_of_secret(plain) {
                self.top().does = Some(Weight::Secret);
            }
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

    /// The value beside has this weight, also when it came before; the attributes of an element are those
    /// of the object around them too.
    fn name_beside(&mut self, weight: Weight) {
        self.top().named = Some(weight);
        self.hide_before(weight);
        let around = self.open.iter_mut().rev().nth(1);
        if let Some(around) = around.filter(|around| around.is_under(&ATTRIBUTES)) {
            around.named = Some(weight);
            // It stands before all of the inner object.
            if let Some(before) = around.before.take() {
                self.top().before = Some(before);
                self.hide_before(weight);
            }
        }
    }

    /// Recorders say by selectors what a value was given to: `"selectors": [["aria/Password"]]`.
    fn learn_selector(&mut self, plain: &str) {
        let around = self.open.iter().rposition(|frame| frame.is_object);
        let Some(around) = around.filter(|around| self.open[*around].is_under(&SELECTORS)) else {
            return;
        };
        let weight = self.work.weigh(plain);
        if weight > Weight::Plain {
            self.open[around].named = Some(weight);
        }
    }

    /// Whether secrets are the names in an object of this name.
    fn is_keyed(&mut self, name: &str) -> bool {
        let Some(one) = name.strip_suffix('s') else { return false };
        one.ends_with("ession") || self.work.weigh(one) == Weight::Secret
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
        if weight == Weight::Secret
            && let Ok(place) = number.parse()
        {
            self.refer(place);
        }
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
            self.out.push_str(&self.work.without_seen(name));
            self.at += name.len();
            return;
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

/// `git.example`, and no name of a file.
fn is_host(name: &str) -> bool {
    let fits =
        |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'.' | b'-' | b':');
    name.contains('.') && name.bytes().all(fits)
}

/// `projects/1/secrets/db/versions/4`.
fn is_path_of_secret(text: &str) -> bool {
    text.len() <= MAX_PATH && text.contains("/secrets/")
}

fn is_done_with(name: &str) -> bool {
    DONE_WITH.iter().any(|one| name.eq_ignore_ascii_case(one))
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
